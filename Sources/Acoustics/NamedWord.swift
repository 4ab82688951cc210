import Text

/// A vocabulary word that users type: matching ignores case, and output uses the spelling of the raw value.
public protocol NamedWord: RawRepresentable, CaseIterable, Sendable where RawValue == String {
  /// What the word names, for use in messages: "polar pattern".
  static var kind: String { get }
  /// Other spellings, in lower case, and what they mean.
  static var synonyms: [String: Self] { get }
}

extension NamedWord {
  public static var synonyms: [String: Self] { [:] }

  /// The word spelt `text`, ignoring case.
  public init(word text: String) throws(UnknownWord) {
    let word = text.lowercased()
    guard let match = Self.allCases.first(where: { $0.rawValue.lowercased() == word }) ?? Self.synonyms[word]
    else {
      throw UnknownWord(kind: Self.kind, word: text, choices: Self.allCases.map(\.rawValue))
    }
    self = match
  }
}

/// A word that is not in the vocabulary, together with the valid choices.
public struct UnknownWord: Error, Hashable, CustomStringConvertible {
  public let kind: String
  public let word: String
  public let choices: [String]

  public init(kind: String, word: String, choices: [String]) {
    self.kind = kind
    self.word = word
    self.choices = choices
  }

  public var description: String {
    "unknown \(kind) \(word.quoted)\(didYouMean(word, among: choices)); use one of: \(choices.joined(separator: ", "))"
  }
}
