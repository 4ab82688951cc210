import Acoustics
import Text

/// One value of a setting: a JSON value in answers, an argument in feedback, a word of commands.
public enum SettingValue: Hashable, Sendable {
  /// None: no look, nothing to follow, no high-pass.
  case off
  case number(Double)
  /// On or off. Feedback has 1 or 0, which the toggles of control surfaces understand.
  case flag(Bool)
  case word(String)
  case words([String])
  case look(Look)

  /// As `pinna set` takes it.
  public var word: String {
    switch self {
    case .off: "off"
    case .number(let number): number.plain
    case .flag(let isOn): (isOn ? Switch.on : .off).rawValue
    case .word(let text): text
    case .words(let words): words.joined(separator: ",")
    case .look(let look): look.word
    }
  }

  /// Nil for what is no number; 0 for none.
  public var number: Double? {
    switch self {
    case .number(let number): number
    case .off: 0
    case .flag, .word, .words, .look: nil
    }
  }
}

/// In answers about one setting: words, but for numbers.
extension SettingValue: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if case .number(let number) = self { try container.encode(number) } else { try container.encode(word) }
  }
}

public enum Switch: String, NamedWord {
  case on, off
  public static let kind = "switch"

  /// A word, or the 1 or 0 that a toggle of a control surface sends.
  public init(argument text: String) throws(UnknownWord) {
    switch text.decimal {
    case 1: self = .on
    case 0: self = .off
    default: self = try Switch(word: text)
    }
  }
}
