import Acoustics
import FoundationEssentials
import JackClient
import Messages
import Text

/// The present values, as subscribers and set methods without arguments get them.
extension Processor {
  /// The whole state, one message per path. Those of set methods have the path of the method.
  package var stateMessages: [OSCMessage] {
    func name(_ path: String?) -> OSCMessage.Argument {
      .string(path?.lastPathComponent.printable ?? "")
    }
    return Change.Key.allCases.map {
      OSCMessage("/pinna/set/\($0.rawValue)", [inForce.value(of: $0).argument])
    } + [
      OSCMessage("/pinna/preset/use", [.string(inForce.preset)]),
      OSCMessage("/pinna/record", [SettingValue.flag(state.take != nil).argument]),
      OSCMessage("/pinna/record/armed", [SettingValue.flag(state.kind == .armed).argument]),
      OSCMessage("/pinna/record/take", [name(state.take?.take.path)]),
      OSCMessage("/pinna/play/take", [name(state.playback?.player.path)]),
      OSCMessage("/pinna/server", [.string(serverState.rawValue)]),
    ]
      + wanted.feeds.flatMap { feed in
        Change.Key.allCases.compactMap { key in
          feed.value(of: key).map {
            OSCMessage("/pinna/feed/\(feed.name)/set/\(key.rawValue)", [$0.argument])
          }
        }
      }
  }

  /// Levels over 300 ms in dB relative to full scale: microphones in channel order, then left and right, then the outputs of
  /// other feeds. Nil outside a graph.
  package var levelsMessage: OSCMessage? {
    guard let readings = client?.readings, !readings.levels.isEmpty else { return nil }
    return OSCMessage(
      "/pinna/levels",
      readings.levels.map { .float(Float(StatusReport.NamedLevel.decibels($0.rms))) }
        + feedLevels(readings).map { .float(Float($0.rmsDB)) })
  }

  /// The answer to `/pinna/levels`.
  package var levels: StatusReport.Levels {
    let readings = client?.readings ?? Readings()
    var levels = StatusReport.Levels(readings, correlation: client?.correlation)
    if !wanted.feeds.isEmpty { levels.feeds = feedLevels(readings) }
    return levels
  }
}

/// One value of a setting: a JSON value in answers, an argument in feedback.
package enum SettingValue: Hashable, Sendable, Encodable {
  case word(String)
  case number(Double)
  /// On or off. Feedback has 1 or 0, which the toggles of control surfaces understand.
  case flag(Bool)

  var argument: OSCMessage.Argument {
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
    case .number(let number): number == number.rounded() ? "\(Int(number))" : "\(number)"
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
    case .gain: .number(gain.value)
    case .highPass: highPass.frequency.map { .number($0.value) } ?? .word("off")
    case .mute: .flag(muted)
    case .input, .output, .listen: nil
    }
  }
}

extension Setting {
  package func value(of key: Change.Key) -> SettingValue {
    var main = Feed(name: "main", selection: selection, gain: gain, highPass: highPass)
    main.muted = muted
    if let value = main.value(of: key) { return value }
    return switch key {
    case .output: .word(output.rawValue)
    case .listen: .word(listening ?? "off")
    default: .word(device.uid)
    }
  }
}
