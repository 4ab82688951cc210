import Acoustics
import Text

/// Converts one value of a description file to a typed value. Every error names the file, the position and the field.
public struct YAMLReader {
  public let file: String
  /// The path of the value within the file: "dataSources.Front.forward"; empty for the root.
  public let field: String
  public let node: YAMLNode
}

extension YAMLReader {
  /// Reads the file at `path`.
  public init(path: String) throws(DescriptionError) {
    try self.init(DescriptionText(path: path))
  }

  init(_ text: DescriptionText) throws(DescriptionError) {
    self.init(file: text.file, field: "", node: try YAMLParser.parse(text))
  }

  /// Reads `text`. Error messages call it `file`.
  public init(text: String, file: String) throws(DescriptionError) {
    try self.init(DescriptionText(text, file: file))
  }

  /// What the file describes is named after it: "phone5" for "/a/b/phone5.yaml".
  var fileName: String { DescriptionName.of(path: file) }

  /// An error at this value.
  /// - Parameter message: the rest of a sentence that begins with the name of the field.
  public func failure(_ message: String) -> DescriptionError {
    failure(message, at: node.position)
  }

  private func failure(_ message: String, at position: TextPosition) -> DescriptionError {
    DescriptionError(
      file: file, position: position, message: (field.isEmpty ? "the file" : field) + " " + message)
  }

  private func child(_ name: String, _ node: YAMLNode) -> YAMLReader {
    YAMLReader(file: file, field: field.isEmpty ? name : "\(field).\(name)", node: node)
  }
}

// MARK: - Groups and lists

extension YAMLReader {
  /// The entries of a group whose keys are names that the file defines.
  public func entries() throws(DescriptionError) -> [(key: String, value: YAMLReader)] {
    guard case .mapping(let entries) = node.content else {
      throw failure("is \(node.kind); write a group of keys, one \"name: value\" per line")
    }
    return entries.map { ($0.key, child($0.key.printable(limit: 40), $0.value)) }
  }

  /// The value of `key`, whatever the group's other keys are; nil if there is none.
  func value(of key: String) -> YAMLReader? {
    guard case .mapping(let entries) = node.content else { return nil }
    return entries.first { $0.key == key }.map { child(key, $0.value) }
  }

  /// The values of a group. Any key that is not in `allowedKeys`, in the words of files or of commands, is an error.
  public func fields(_ allowedKeys: [String]) throws(DescriptionError) -> YAMLFields {
    guard case .mapping(let entries) = node.content else {
      throw failure("is \(node.kind); write a group with the keys \(allowedKeys.joined(separator: ", "))")
    }
    var values: [String: YAMLReader] = [:]
    for entry in entries {
      let word = Self.fileWord(entry.key)
      let isExact = allowedKeys.contains(entry.key)
      guard let key = isExact ? entry.key : allowedKeys.first(where: { Self.fileWord($0) == word }) else {
        throw failure(
          "has an unknown key \(entry.key.quoted); use one of: \(allowedKeys.joined(separator: ", "))",
          at: entry.position)
      }
      guard values[key] == nil else {
        throw failure("has \(key) twice, also as \(entry.key.quoted); leave one out", at: entry.position)
      }
      values[key] = child(entry.key, entry.value)
    }
    return YAMLFields(group: self, values: values)
  }

  /// A key in the words of presets: "highPass" for "high-pass", "polarPattern" for "pattern".
  private static func fileWord(_ key: String) -> String {
    let parts = key.split(separator: "-")
    let joined = parts.dropFirst().reduce(String(parts.first ?? "")) {
      $0 + $1.prefix(1).uppercased() + $1.dropFirst()
    }
    return ["pattern": "polarPattern", "orientation": "inputOrientation"][joined] ?? joined
  }

  public func list() throws(DescriptionError) -> [YAMLReader] {
    guard case .sequence(let elements) = node.content else {
      throw failure("is \(node.kind); write a list, [a, b, c]")
    }
    return elements.enumerated().map { index, element in
      YAMLReader(file: file, field: "\(field)[\(index + 1)]", node: element)
    }
  }

  /// Reads the elements of a list.
  /// - Parameters:
  ///   - count: how many there may be.
  ///   - kind: what they are, for messages.
  func elements<Element>(
    _ count: ClosedRange<Int> = 1...64, _ kind: String = "entries",
    _ read: (YAMLReader) throws(DescriptionError) -> Element
  ) throws(DescriptionError) -> [Element] {
    let list = try list()
    guard count.contains(list.count) else {
      throw failure(
        "has \(list.count) \(kind); write between \(count.lowerBound) and \(count.upperBound)")
    }
    return try list.map(read)
  }
}

/// The values of a group with a fixed set of keys.
public struct YAMLFields {
  let group: YAMLReader
  let values: [String: YAMLReader]

  /// The value of `key`; nil if the group does not have it.
  public func optional(_ key: String) -> YAMLReader? { values[key] }

  /// The value of `key`. If it is missing, the error message suggests `example` as its value.
  public func required(_ key: String, example: String) throws(DescriptionError) -> YAMLReader {
    guard let value = values[key] else {
      throw group.failure("has no key \"\(key)\"; add it, for example \"\(key): \(example)\"")
    }
    return value
  }
}

// MARK: - Single values

extension YAMLReader {
  /// The text of a scalar; nil for a list, a group or an empty value.
  public var scalar: String? {
    guard case .scalar(let text, let quoted) = node.content, quoted || !["", "~", "null"].contains(text)
    else {
      return nil
    }
    return text
  }

  /// Reads one line of text: not empty, no control characters, at most `limit` characters.
  public func string(limit: Int = 120) throws(DescriptionError) -> String {
    guard let text = scalar else { throw failure("is \(node.kind); write text") }
    guard !text.isEmpty, text.unicodeScalars.count <= limit else {
      throw failure("has \(text.unicodeScalars.count) characters; write between 1 and \(limit)")
    }
    guard text.printable(limit: limit) == text else {
      throw failure("has unprintable characters; write one line of plain text")
    }
    return text
  }

  /// Reads a finite number within `range`. Messages use `unit`: "mm", or an empty string for plain numbers.
  public func number(in range: ClosedRange<Double>, unit: String) throws(DescriptionError) -> Double {
    guard case .scalar(let text, quoted: false) = node.content,
      let value = text.decimal(unit: String(unit.prefix { $0 != "," }))
    else {
      throw failure("is \(node.kind), not a number; write a number" + (unit.isEmpty ? "" : " in \(unit)"))
    }
    guard range.contains(value) else {
      let bounds =
        "\(range.lowerBound.plain) to \(range.upperBound.plain)" + (unit.isEmpty ? "" : " \(unit)")
      throw failure("is \(text.printable(limit: 40)), out of range; write a number from \(bounds)")
    }
    return value
  }

  /// Reads `[azimuth, elevation]` in degrees, or an azimuth alone.
  public func look() throws(DescriptionError) -> Look {
    let numbers = (try? list()) ?? [self]
    guard (1...2).contains(numbers.count) else {
      throw failure("has \(numbers.count) numbers; write an azimuth and an elevation in degrees, [60, 0]")
    }
    let azimuth = try numbers[0].number(in: Look.azimuths, unit: "degrees")
    let elevation =
      numbers.count == 2 ? try numbers[1].number(in: Look.elevations, unit: "degrees") : 0
    return Look(azimuth: azimuth, elevation: elevation)!
  }

  /// Reads what follows the pose: a word or a list of words.
  public func followed() throws(DescriptionError) -> Set<Followed> {
    if (try? string().lowercased()) == "off" { return [] }
    var followed: Set<Followed> = []
    for item in (try? list()) ?? [self] { followed.insert(try item.word(Followed.self)) }
    return followed
  }

  /// Reads a word of a vocabulary, ignoring case.
  public func word<Word: NamedWord>(_ type: Word.Type) throws(DescriptionError) -> Word {
    let text = try string()
    do { return try Word(word: text) } catch { throw failure("has an \(error)") }
  }
}
