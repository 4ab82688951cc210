/// A line and a column of a text, both counted from 1 as editors do.
public struct TextPlace: Hashable, Sendable, CustomStringConvertible {
  public let line: Int
  public let column: Int

  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  public var description: String { "\(line):\(column)" }
}

/// What is wrong with a device, preset or scene file, as one sentence: "FILE:LINE:COLUMN: what is wrong; what
/// to do". There is no place where the file could not be read at all.
public struct DescriptionError: Error, Hashable, CustomStringConvertible {
  public let file: String
  public let place: TextPlace?
  public let message: String

  public init(file: String, place: TextPlace?, message: String) {
    self.file = file
    self.place = place
    self.message = message
  }

  public var description: String {
    let name = printable(file, limit: 4096)
    return place.map { "\(name):\($0): \(message)" } ?? "\(name): \(message)"
  }
}

/// `text` as it may appear within one line of a message: control characters escaped, the rest cut at `limit`.
func printable(_ text: String, limit: Int = 40) -> String {
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

/// `text` in quotation marks, fit for a message.
func quoted(_ text: String) -> String { "\"\(printable(text))\"" }
