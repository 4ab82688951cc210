/// The top-level fields of a JSON object as Pinna wrote them: what a page is sent is never parsed and written again.
///
/// A value; any thread.
package struct JSONFields: Sendable {
  /// The text of each value, by its key.
  package private(set) var values: [String: String] = [:]

  package init() {}

  /// - Parameter text: a valid JSON object. Keys must need no escapes, as all of Pinna's. Anything else gives nil.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { return nil }
    var (depth, isString, isEscaped) = (0, false, false)
    var start = 1
    var key: String?
    func piece(_ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }
    for (n, byte) in bytes.enumerated() {
      if isString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ":") where depth == 1 && key == nil:
        let quoted = piece(n)
        guard quoted.count > 2, quoted.first == "\"", quoted.last == "\"" else { return nil }
        key = String(quoted.dropFirst().dropLast())
        start = n + 1
      case UInt8(ascii: ",") where depth == 1:
        guard let name = key else { return nil }
        values[name] = piece(n)
        (key, start) = (nil, n + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 1, let name = key { values[name] = piece(n) }
        depth -= 1
      default: break
      }
    }
    guard depth == 0, !isString else { return nil }
  }

  package mutating func remove(_ key: String) { values[key] = nil }

  /// The fields that differ from `earlier`, as a JSON object; a field that is no longer there is null. Nil if none does.
  package func changes(since earlier: JSONFields) -> String? {
    var changed = values.filter { earlier.values[$0.key] != $0.value }
    for key in earlier.values.keys where values[key] == nil { changed[key] = "null" }
    guard !changed.isEmpty else { return nil }
    return "{" + changed.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
      + "}"
  }
}
