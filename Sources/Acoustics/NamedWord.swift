/// A word of the vocabulary, as users type it: matched in any case, printed as spelt here.
public protocol NamedWord: RawRepresentable, CaseIterable, Sendable where RawValue == String {
  /// What the word names, for messages: "polar pattern".
  static var kind: String { get }
}

extension NamedWord {
  /// The word that `text` spells in any case.
  public init(word text: String) throws(UnknownWord) {
    guard let match = Self.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      throw UnknownWord(kind: Self.kind, word: text, known: Self.allCases.map(\.rawValue))
    }
    self = match
  }
}

/// A word that Pinna does not know, with those that it does.
public struct UnknownWord: Error, Hashable, CustomStringConvertible {
  public let kind: String
  public let word: String
  public let known: [String]

  public init(kind: String, word: String, known: [String]) {
    self.kind = kind
    self.word = word
    self.known = known
  }

  public var description: String {
    "unknown \(kind) \"\(word)\"; use one of: \(known.joined(separator: ", "))"
  }
}
