import Acoustics
import Text

/// One value of a setting: a JSON value in answers, an argument in feedback.
package enum SettingValue: Hashable, Sendable, Encodable {
  case word(String)
  case number(Double)
  /// On or off. Feedback has 1 or 0, which the toggles of control surfaces understand.
  case flag(Bool)

  package var argument: OSCMessage.Argument {
    switch self {
    case .word(let text): .string(text)
    case .number(let number): .float(Float(number))
    case .flag(let isOn): .integer(isOn ? 1 : 0)
    }
  }

  /// As `pinna set` takes it.
  package var word: String {
    switch self {
    case .word(let text): text
    case .number(let number): number.plain
    case .flag(let isOn): (isOn ? Switch.on : .off).rawValue
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .word(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag: try container.encode(word)
    }
  }
}

extension Feed {
  /// Nil for what belongs to all feeds.
  package func value(of key: Change.Key) -> SettingValue? {
    switch key {
    case .dataSource: .word(selection.dataSource)
    case .pattern: .word(selection.polarPattern.rawValue)
    case .orientation: .word(selection.inputOrientation.rawValue)
    case .look: .word(selection.effectiveLook?.word ?? "off")
    case .roll: .number(selection.pose.roll)
    case .yaw: .number(selection.pose.yaw)
    case .follow: .word(selection.follows.word)
    case .gain: .number(gain.value)
    case .highPass: highPass.frequency.map { .number($0.value) } ?? .word("off")
    case .mute: .flag(muted)
    case .input, .adapt, .output, .listen: nil
    }
  }
}

extension FeedReport {
  /// Nil for what belongs to all feeds.
  package func value(of key: Change.Key) -> SettingValue? {
    var feed = self.feed
    feed.muted = muted
    return feed.value(of: key)
  }
}
