/// A line and column in a text, both counted from 1, as editors do.
public struct TextPosition: Hashable, Sendable, CustomStringConvertible {
  public let line: Int
  public let column: Int

  public var description: String { "\(line):\(column)" }
}

/// An error in a device, preset or scene file, as one sentence: "FILE:LINE:COLUMN: what is wrong; what to do".
/// The position is missing if the file could not be read at all.
public struct DescriptionError: Error, Hashable, CustomStringConvertible {
  public let file: String
  public let position: TextPosition?
  public let message: String

  public var description: String {
    let name = printable(file, limit: 4096)
    return position.map { "\(name):\($0): \(message)" } ?? "\(name): \(message)"
  }
}

/// `text` made safe for one line of a message: control characters are escaped, and the text is truncated after `limit`
/// characters (Unicode scalars).
public func printable(_ text: String, limit: Int = 40) -> String {
  var result = ""
  for scalar in text.unicodeScalars.prefix(limit) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return text.unicodeScalars.dropFirst(limit).isEmpty ? result : result + "…"
}

/// `text` in quotation marks, made safe for a message.
public func quoted(_ text: String) -> String { "\"\(printable(text))\"" }
