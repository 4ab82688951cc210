/// A value of a YAML file, with the place where it stands.
public struct YAMLNode: Hashable, Sendable {
  public indirect enum Content: Hashable, Sendable {
    /// Text as written; `quoted` tells "1" from 1.
    case scalar(String, quoted: Bool)
    case sequence([YAMLNode])
    /// In the order of the file; no key occurs twice.
    case mapping([Entry])
  }

  /// One `key: value` of a mapping.
  public struct Entry: Hashable, Sendable {
    public let key: String
    public let place: TextPlace
    public let value: YAMLNode
  }

  public let content: Content
  public let place: TextPlace

  /// What a reader of the file would call it: "a list".
  var kind: String {
    switch content {
    case .scalar("", quoted: false), .scalar("~", quoted: false), .scalar("null", quoted: false): "nothing"
    case .scalar(let text, _): quoted(text)
    case .sequence: "a list"
    case .mapping: "a group of keys"
    }
  }
}
