import Acoustics

/// The values of a feed as reports and sidecars have them, in one JSON object, each under its row's key. What says nothing is
/// left out.
public struct FeedValues: Codable, Hashable, Sendable {
  private var values: [SettingKey: SettingValue]

  public init(_ feed: FeedSetting) {
    values = Dictionary(
      uniqueKeysWithValues: SettingKey.ofFeeds.compactMap { key in
        key.row.feed.map { (key, $0.value(feed)) }
      })
  }

  public subscript(key: SettingKey) -> SettingValue? {
    get { values[key] }
    set { values[key] = newValue }
  }

  /// The changes that lead to these values.
  /// - Throws: for words that this Pinna does not know.
  public var changes: [Change] {
    get throws {
      try SettingKey.ofFeeds.compactMap { key in
        guard let value = values[key] else { return nil }
        // Patterns of B-format are no words of commands.
        if key == .pattern, PolarPattern(rawValue: value.word) != nil { return .set(key, value) }
        return try Change(key, value.word)
      }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (key, value) in values {
      guard let row = key.row.feed, value != row.unsaid else { continue }
      let coding = Key(stringValue: row.json)
      switch value {
      case .off: break
      case .number(let number): try container.encode(number, forKey: coding)
      case .flag(let isOn): try container.encode(isOn, forKey: coding)
      case .word(let word): try container.encode(word, forKey: coding)
      case .words(let words): try container.encode(words, forKey: coding)
      case .look(let look): try container.encode(look, forKey: coding)
      }
    }
  }

  /// A value may also stand under its key in presets, or as `pinna set` takes it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    values = [:]
    for key in SettingKey.ofFeeds {
      guard let row = key.row.feed else { continue }
      values[key] = row.unsaid
      guard
        // Reports and sidecars have `talkers` and `room` of their own.
        let coding = [row.json, [.room, .talkers].contains(key) ? nil : row.yaml].lazy
          .compactMap({ $0.map(Key.init) }).first(
            where: container.contains),
        try !container.decodeNil(forKey: coding)
      else { continue }
      values[key] =
        switch (key.row.kind, try? container.decode(String.self, forKey: coding)) {
        case (.word, let word?), (.text, let word?), (.name, let word?): .word(word)
        case (_, let word?): try key.row.value(word)
        case (.number, _): .number(try container.decode(Double.self, forKey: coding))
        case (.flag, _): .flag(try container.decode(Bool.self, forKey: coding))
        case (.look, _): .look(try container.decode(Look.self, forKey: coding))
        case (.follow, _): .words(try container.decode([Followed].self, forKey: coding).map(\.rawValue))
        case (.word, _), (.text, _), (.name, _): .word(try container.decode(String.self, forKey: coding))
        }
    }
  }
}

extension FeedSetting: Codable {
  private enum CodingKeys: CodingKey { case name }

  /// Its values, and the name of any but `main`.
  public func encode(to encoder: any Encoder) throws {
    try FeedValues(self).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    if !isMain { try container.encode(name, forKey: .name) }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(name: try container.decodeIfPresent(String.self, forKey: .name) ?? Self.main)
    let values = try FeedValues(from: decoder)
    for key in SettingKey.ofFeeds { if let value = values[key] { set(key, value) } }
  }

  /// Of which nothing is said yet, as a report that is being filled.
  public init(name: String = main) {
    self.init(
      name: name, Selection(dataSource: "", polarPattern: .omnidirectional, inputOrientation: .portrait))
  }
}

/// Two values in one JSON object, as the values of a feed and what else is said of it.
@dynamicMemberLookup
public struct Joined<First: Codable & Sendable, Second: Codable & Sendable>: Codable, Sendable {
  public var first: First
  public var second: Second

  public init(_ first: First, _ second: Second) { (self.first, self.second) = (first, second) }

  public subscript<Value>(dynamicMember path: WritableKeyPath<First, Value>) -> Value {
    get { first[keyPath: path] }
    set { first[keyPath: path] = newValue }
  }

  public subscript<Value>(dynamicMember path: WritableKeyPath<Second, Value>) -> Value {
    get { second[keyPath: path] }
    set { second[keyPath: path] = newValue }
  }

  public subscript<Value>(dynamicMember path: KeyPath<First, Value>) -> Value { first[keyPath: path] }
  public subscript<Value>(dynamicMember path: KeyPath<Second, Value>) -> Value { second[keyPath: path] }

  public func encode(to encoder: any Encoder) throws {
    try first.encode(to: encoder)
    try second.encode(to: encoder)
  }

  public init(from decoder: any Decoder) throws {
    self.init(try First(from: decoder), try Second(from: decoder))
  }
}

extension Joined: Equatable where First: Equatable, Second: Equatable {}
extension Joined: Hashable where First: Hashable, Second: Hashable {}
