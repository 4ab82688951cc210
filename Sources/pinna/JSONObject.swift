import Control

/// A JSON object that a verb prints and nothing of Pinna reads: keys and values; nil prints as null.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
  private var fields: [String: any Encodable]

  init(dictionaryLiteral fields: (String, any Encodable)...) {
    self.fields = Dictionary(uniqueKeysWithValues: fields)
  }

  /// One object with the keys of both.
  static func + (a: Self, b: Self) -> Self {
    var sum = a
    sum.fields.merge(b.fields) { $1 }
    return sum
  }

  /// One line, keys in order.
  var text: String { json(self) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for (name, value) in fields { try container.encode(value, forKey: Name(stringValue: name)) }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
