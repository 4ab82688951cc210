import FoundationEssentials
import Settings
import Text

/// Encodes a value as JSON on one line, with sorted keys, so that equal values give equal text. Unprintable
/// characters are escaped: a terminal may show it.
public func json(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  encoder.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  guard let data = try? encoder.encode(value) else { return "{}" }
  return String(decoding: data, as: UTF8.self).printableJSON
}

extension Answer {

  /// Decodes the document. Ignores fields that are unknown to this version.
  /// - Throws: the answer's sentence if the request failed; `malformedReply` if the document is malformed.
  package func document<Document: Decodable>(_ type: Document.Type = Document.self) throws(Failure)
    -> Document
  {
    guard status == .done else { throw Failure(status, text) }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do { return try decoder.decode(type, from: Data(text.utf8)) } catch {
      throw .malformedReply((error as? DecodingError)?.fault ?? "\(error)")
    }
  }
}

extension Failure {
  /// - Parameter fault: what is wrong with the reply, without a full stop.
  static func malformedReply(_ fault: String) -> Failure {
    Failure(
      .failed,
      "pinna run sent a malformed reply (\(fault)); it may be another version of Pinna: stop it, and start it again"
    )
  }
}

extension DecodingError {
  /// For example "levels.outputs[1].peakDB is missing".
  fileprivate var fault: String {
    switch self {
    case .keyNotFound(let key, let context): Self.path(context.codingPath + [key]) + " is missing"
    case .valueNotFound(_, let context): Self.path(context.codingPath) + " is null"
    case .typeMismatch(_, let context), .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "it is not a JSON object" : Self.path(context.codingPath) + " has an invalid value"
    @unknown default: "\(self)"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce("") { path, key in
      if let index = key.intValue { return "\(path)[\(index)]" }
      return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
    }
  }
}
