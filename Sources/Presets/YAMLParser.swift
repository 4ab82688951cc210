import CYaml
import Text

/// Builds a tree from libyaml's parser events. Refuses everything that a description does not need: aliases, anchors,
/// tags, duplicate keys, a second document, deep nesting, and more than `nodeLimit` values.
final class YAMLParser {
  static let depthLimit = 16
  static let nodeLimit = 10_000

  /// Parses `text`, which must hold exactly one document.
  static func parse(_ text: DescriptionText) throws(DescriptionError) -> YAMLNode {
    let parser = YAMLParser(text)
    var event = try parser.next()  // stream start
    event = try parser.next()
    guard event.kind == YAML_DOCUMENT_START_EVENT else {
      throw parser.failure(event.position, "the file is empty; write a description into it")
    }
    let root = try parser.node(from: parser.next(), depth: 1)
    event = try parser.next()  // document end
    event = try parser.next()
    guard event.kind == YAML_STREAM_END_EVENT else {
      throw parser.failure(event.position, "a second document begins here; keep one per file, without ---")
    }
    return root
  }

  /// A copy of the parts of a libyaml event that are used. The original is freed immediately.
  private struct Event {
    let kind: yaml_event_type_t
    let position: TextPosition
    var text = ""
    var quoted = false
    var anchored = false
    var tagged = false
  }

  private let text: DescriptionText
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeMutableBufferPointer<UInt8>
  private var nodes = 0

  private init(_ text: DescriptionText) {
    self.text = text
    bytes = .allocate(capacity: max(1, text.bytes.count))
    _ = bytes.initialize(fromContentsOf: text.bytes.isEmpty ? [10] : text.bytes)
    parser = .allocate(capacity: 1)
    precondition(yaml_parser_initialize(parser) == 1, "libyaml has no memory left")
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress!, bytes.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    bytes.deallocate()
  }

  private func node(from event: Event, depth: Int) throws(DescriptionError) -> YAMLNode {
    nodes += 1
    if event.kind == YAML_ALIAS_EVENT || event.anchored {
      throw failure(event.position, "anchors (&) and aliases (*) are not allowed; write the value out")
    }
    if event.tagged { throw failure(event.position, "tags (!) are not allowed; write the value alone") }
    guard depth <= Self.depthLimit else {
      throw failure(event.position, "values are nested more than \(Self.depthLimit) deep; flatten them")
    }
    guard nodes <= Self.nodeLimit else {
      throw failure(event.position, "there are more than \(Self.nodeLimit) values; shorten the file")
    }
    switch event.kind {
    case YAML_SEQUENCE_START_EVENT:
      return YAMLNode(content: .sequence(try elements(depth: depth + 1)), position: event.position)
    case YAML_MAPPING_START_EVENT:
      return YAMLNode(content: .mapping(try entries(depth: depth + 1)), position: event.position)
    default:
      return YAMLNode(content: .scalar(event.text, quoted: event.quoted), position: event.position)
    }
  }

  private func elements(depth: Int) throws(DescriptionError) -> [YAMLNode] {
    var elements: [YAMLNode] = []
    while true {
      let event = try next()
      if event.kind == YAML_SEQUENCE_END_EVENT { return elements }
      elements.append(try node(from: event, depth: depth))
    }
  }

  private func entries(depth: Int) throws(DescriptionError) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    var positions: [String: TextPosition] = [:]
    while true {
      let event = try next()
      if event.kind == YAML_MAPPING_END_EVENT { return entries }
      let key = try node(from: event, depth: depth)
      guard case .scalar(let name, _) = key.content else {
        throw failure(key.position, "a key is \(key.kind); make it a word")
      }
      if let first = positions.updateValue(key.position, forKey: name) {
        throw failure(key.position, "\(name.quoted) is given twice, first in line \(first.line); remove one")
      }
      let value = try node(from: next(), depth: depth)
      entries.append(YAMLNode.Entry(key: name, position: key.position, value: value))
    }
  }

  private func next() throws(DescriptionError) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxFailure() }
    defer { yaml_event_delete(&event) }
    let position = TextPosition(line: event.start_mark.line + 1, column: event.start_mark.column + 1)
    var result = Event(kind: event.type, position: position)
    switch event.type {
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      result.text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      result.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE
      result.anchored = scalar.anchor != nil
      result.tagged = scalar.tag != nil
    case YAML_SEQUENCE_START_EVENT:
      result.anchored = event.data.sequence_start.anchor != nil
      result.tagged = event.data.sequence_start.tag != nil
    case YAML_MAPPING_START_EVENT:
      result.anchored = event.data.mapping_start.anchor != nil
      result.tagged = event.data.mapping_start.tag != nil
    default: break
    }
    return result
  }

  private func failure(_ position: TextPosition, _ message: String) -> DescriptionError {
    DescriptionError(file: text.file, position: position, message: message)
  }

  private func syntaxFailure() -> DescriptionError {
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "unknown problem"
    if parser.pointee.error == YAML_READER_ERROR {
      let position = text.position(ofByte: parser.pointee.problem_offset)
      return failure(position, "this is not plain text in UTF-8 (\(problem)); save the file as UTF-8")
    }
    let mark = parser.pointee.problem_mark
    let position = TextPosition(line: mark.line + 1, column: mark.column + 1)
    if text.hasTab(before: position) {
      return failure(position, "a tab stands here, which YAML does not allow; write spaces in its place")
    }
    return failure(
      position, "this is not valid YAML (\(problem)); check indentation, brackets and colons here")
  }
}
