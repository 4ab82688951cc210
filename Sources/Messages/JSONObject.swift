/// A JSON object that a verb prints and that Pinna itself never reads. Nil values print as null.
package struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
  private var fields: [String: any Encodable]

  package init(dictionaryLiteral fields: (String, any Encodable)...) {
    self.fields = Dictionary(uniqueKeysWithValues: fields)
  }

  /// An object with the keys of both. `b` wins where both have the same key.
  package static func + (a: Self, b: Self) -> Self {
    var sum = a
    sum.fields.merge(b.fields) { $1 }
    return sum
  }

  /// One line, with sorted keys.
  package var text: String { json(self) }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FieldKey.self)
    for (name, value) in fields { try container.encode(value, forKey: FieldKey(stringValue: name)) }
  }

  private struct FieldKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
