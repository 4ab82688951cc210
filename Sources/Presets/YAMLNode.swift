import Text

/// A value of a YAML file, with its position in the text.
public struct YAMLNode: Hashable, Sendable {
  public indirect enum Content: Hashable, Sendable {
    /// Unparsed text; `quoted` distinguishes the string "1" from the number 1.
    case scalar(String, quoted: Bool)
    case sequence([YAMLNode])
    /// In file order, with unique keys.
    case mapping([Entry])
  }

  /// One `key: value` of a mapping.
  public struct Entry: Hashable, Sendable {
    public let key: String
    public let position: TextPosition
    public let value: YAMLNode
  }

  public let content: Content
  public let position: TextPosition

  /// Describes the value in messages: "a list".
  var kind: String {
    switch content {
    case .scalar("", quoted: false), .scalar("~", quoted: false), .scalar("null", quoted: false): "empty"
    case .scalar(let text, _): text.quoted
    case .sequence: "a list"
    case .mapping: "a group of keys"
    }
  }
}
