import Acoustics

/// A value of a description file on its way to becoming something typed. Every complaint says the file, the
/// place and the field.
public struct YAMLReader {
  public let file: String
  /// The way to the value, as a person writes it: "dataSources.Front.forward"; empty for the whole file.
  public let field: String
  public let node: YAMLNode

  /// Reads the file at `path`.
  public init(path: String) throws(DescriptionError) {
    self.init(file: path, field: "", node: try YAMLParser.parse(DescriptionText(path: path)))
  }

  /// Reads `text`, which messages call `file`.
  public init(text: String, file: String) throws(DescriptionError) {
    let bytes = Array(text.utf8)
    guard bytes.count <= DescriptionText.sizeLimit else {
      throw DescriptionError(
        file: file, place: nil, message: "is longer than \(DescriptionText.sizeLimit >> 10) KiB; shorten it")
    }
    self.init(file: file, field: "", node: try YAMLParser.parse(DescriptionText(file: file, bytes: bytes)))
  }

  private init(file: String, field: String, node: YAMLNode) {
    self.file = file
    self.field = field
    self.node = node
  }

  /// An error at this value. The message begins with the field's name: give it what follows.
  public func failure(_ message: String) -> DescriptionError {
    failure(message, at: node.place)
  }

  private func failure(_ message: String, at place: TextPlace) -> DescriptionError {
    DescriptionError(file: file, place: place, message: (field.isEmpty ? "the file" : field) + " " + message)
  }

  private func child(_ name: String, _ node: YAMLNode) -> YAMLReader {
    YAMLReader(file: file, field: field.isEmpty ? name : "\(field).\(name)", node: node)
  }
}

// MARK: - Groups and lists

extension YAMLReader {
  /// The keys of a group and their values; the names are the file's own choice.
  public func entries() throws(DescriptionError) -> [(key: String, value: YAMLReader)] {
    guard case .mapping(let entries) = node.content else {
      throw failure("is \(node.kind); write a group of keys, one \"name: value\" to a line")
    }
    return entries.map { ($0.key, child(printable($0.key), $0.value)) }
  }

  /// The values of a group whose keys can only be `known`.
  public func fields(_ known: [String]) throws(DescriptionError) -> YAMLFields {
    guard case .mapping(let entries) = node.content else {
      throw failure("is \(node.kind); write a group with the keys \(known.joined(separator: ", "))")
    }
    for entry in entries where !known.contains(entry.key) {
      throw failure(
        "has an unknown key \(quoted(entry.key)); use one of: \(known.joined(separator: ", "))",
        at: entry.place)
    }
    var values: [String: YAMLReader] = [:]
    for entry in entries { values[entry.key] = child(entry.key, entry.value) }
    return YAMLFields(group: self, values: values)
  }

  public func list() throws(DescriptionError) -> [YAMLReader] {
    guard case .sequence(let elements) = node.content else {
      throw failure("is \(node.kind); write a list, [a, b, c]")
    }
    return elements.enumerated().map { index, element in
      YAMLReader(file: file, field: "\(field)[\(index + 1)]", node: element)
    }
  }
}

/// The values of a group whose keys are known.
public struct YAMLFields {
  let group: YAMLReader
  let values: [String: YAMLReader]

  /// The value of `key`, or nil where the group does not have it.
  public func optional(_ key: String) -> YAMLReader? { values[key] }

  /// The value of `key`, whose absence is an error; `example` shows what to add.
  public func required(_ key: String, example: String) throws(DescriptionError) -> YAMLReader {
    guard let value = values[key] else {
      throw group.failure("has no key \"\(key)\"; add it, for example \"\(key): \(example)\"")
    }
    return value
  }
}

// MARK: - Single values

extension YAMLReader {
  /// The text of a scalar, or nil where this is something else or nothing.
  public var scalar: String? {
    guard case .scalar(let text, let quoted) = node.content, quoted || !["", "~", "null"].contains(text)
    else {
      return nil
    }
    return text
  }

  /// A line of text: not empty, without control characters, at most `limit` characters.
  public func string(limit: Int = 120) throws(DescriptionError) -> String {
    guard let text = scalar else { throw failure("is \(node.kind); write a text") }
    guard !text.isEmpty, text.unicodeScalars.count <= limit else {
      throw failure("has \(text.unicodeScalars.count) characters; write between 1 and \(limit)")
    }
    guard printable(text, limit: limit) == text else {
      throw failure("has characters that cannot be printed; write one line of plain text")
    }
    return text
  }

  /// A finite number within `range`; `unit` is for messages: "mm".
  public func number(in range: ClosedRange<Double>, unit: String) throws(DescriptionError) -> Double {
    guard case .scalar(let text, quoted: false) = node.content, let value = Self.decimal(text) else {
      throw failure("is \(node.kind), not a number; write a number in \(unit)")
    }
    guard range.contains(value) else {
      let bounds = "\(Self.short(range.lowerBound)) to \(Self.short(range.upperBound)) \(unit)"
      throw failure("is \(printable(text)), out of range; write a number from \(bounds)")
    }
    return value
  }

  /// A word of a vocabulary, in any case.
  public func word<Word: NamedWord>(_ type: Word.Type) throws(DescriptionError) -> Word {
    let text = try string()
    do { return try Word(word: text) } catch { throw failure("has an \(error.quotable)") }
  }

  /// Decimal notation only: Swift would take "nan", "inf" and "0x1p3" for numbers as well.
  private static func decimal(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let value = Double(text),
      value.isFinite
    else { return nil }
    return value
  }

  private static func short(_ value: Double) -> String {
    value == value.rounded() ? String(Int(value)) : String(value)
  }
}

extension UnknownWord {
  /// The same complaint with the word made fit for one line.
  var quotable: UnknownWord { UnknownWord(kind: kind, word: printable(word), known: known) }
}
