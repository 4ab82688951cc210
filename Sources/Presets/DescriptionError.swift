import Text

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
    let name = file.printable(limit: 4096)
    return position.map { "\(name):\($0): \(message)" } ?? "\(name): \(message)"
  }
}
