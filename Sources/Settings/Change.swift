import Acoustics
import Text

/// One change of what is heard. Words become changes where they arrive: from OSC, MIDI controllers, session managers
/// and the command line.
public enum Change: Hashable, Sendable {
  /// A preset by its name, which sets all values at once.
  case preset(String)
  /// A value that the setting's row accepts.
  case set(SettingKey, SettingValue)

  /// - Throws: `UnknownWord`, or a `Failure` with the usable values. Names are not looked up: devices and their inputs
  ///   know them.
  public init(_ key: SettingKey, _ word: String) throws { self = .set(key, try key.row.value(word)) }

  /// The changes that alternating keys and values name.
  /// - Throws: as `init`; also for a key that there is not.
  public static func list(_ words: ArraySlice<String>) throws -> [Change] {
    try stride(from: words.startIndex, to: words.endIndex - 1, by: 2).map {
      try Change(SettingKey(word: words[$0]), words[$0 + 1])
    }
  }

  /// Nil for a preset.
  public var key: SettingKey? {
    if case .set(let key, _) = self { key } else { nil }
  }

  /// Whether it affects the route, rather than only the level or the high-pass.
  public var isRouting: Bool { key?.row.isRouting ?? true }

  /// Whether it decides which filters a feed plays through.
  public var choosesCase: Bool { key?.row.choosesCase ?? true }

  /// Whether it may put another device into the route.
  public var choosesDevice: Bool { key == nil || key == .input }
}

extension [Change] {
  /// The preset that they choose; nil if none does.
  public var preset: String? {
    compactMap { if case .preset(let name) = $0 { name } else { nil } }.last
  }

  /// The value that they set; nil if they do not.
  public subscript(key: SettingKey) -> SettingValue? {
    compactMap { if case .set(key, let value) = $0 { value } else { nil } }.last
  }

  /// UID of the input that they choose; nil if none does.
  public var input: String? { self[.input]?.word }
}
