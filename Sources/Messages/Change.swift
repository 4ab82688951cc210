import Acoustics

/// One change: a key and its new value, as text. A value; any thread.
public struct Change: Hashable, Sendable {
  public let key: String
  public let value: String

  public init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }

  package static let input = "input"
  package static let output = "output"
  package static let listen = "listen"
  /// The keys of all changes; each is an option of `pinna set`.
  public static let keys = [
    "input", "data-source", "pattern", "orientation", "gain", "high-pass", "mute", "output", listen,
  ]

  /// Names a preset, which sets all values at once. Not one of `keys`.
  package static let preset = "preset"

  /// Whether it affects the route, rather than only the level or the high-pass.
  package var isRouting: Bool { !["gain", "high-pass", "mute"].contains(key) }
}

package enum Switch: String, NamedWord {
  case on, off
  package static let kind = "switch"

  /// A word, or the 1 or 0 that a toggle of a control surface sends.
  package init(argument text: String) throws(UnknownWord) {
    switch Double(text) {
    case 1: self = .on
    case 0: self = .off
    default: self = try Switch(word: text)
    }
  }
}
