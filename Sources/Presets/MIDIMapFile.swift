import Acoustics

/// Reads and extends the file that says what MIDI controllers change.
///
/// ```yaml
/// channel: 1       # 1 to 16, or any; optional
/// bank: evening    # the presets of program changes; optional
/// controllers:
///   - {controller: 7, sets: gain, from: -60, to: 6}   # dB
///   - {controller: 64, sets: mute}                    # on from 64 on
///   - {controller: 20, sets: orientation, values: [portrait, landscapeRight]}
/// ```
public enum MIDIMapFile {
  /// Path within a folder of presets.
  static let path = "midi/controllers.yaml"

  public static func read(path: String) throws(DescriptionError) -> MIDIMap {
    try map(DescriptionText(path: path))
  }

  /// Error messages call the text `file`.
  public static func read(text: String, file: String) throws(DescriptionError) -> MIDIMap {
    try map(DescriptionText(text, file: file))
  }

  /// A text with nothing but comments maps nothing.
  private static func map(_ text: DescriptionText) throws(DescriptionError) -> MIDIMap {
    let isBlank = String(decoding: text.bytes, as: UTF8.self).split(whereSeparator: \.isNewline).allSatisfy {
      $0.first { !$0.isWhitespace } ?? "#" == "#"
    }
    guard !isBlank else { return MIDIMap() }
    let fields = try YAMLReader(text).fields(["channel", "bank", "controllers"])
    var map = MIDIMap()
    if let channel = fields.optional("channel"), channel.scalar?.lowercased() != "any" {
      map.channel = try channel.integer(in: 1...16, or: "any")
    }
    map.bank = try fields.optional("bank")?.string()
    for entry in try fields.optional("controllers")?.list() ?? [] {
      let controller = try controller(entry)
      if let other = map.controllers.first(where: { $0.number == controller.number }) {
        throw entry.failure(
          "uses controller \(controller.number), which sets \(other.target.rawValue) already; remove one of them"
        )
      }
      map.controllers.append(controller)
    }
    return map
  }

  private static func controller(_ reader: YAMLReader) throws(DescriptionError) -> MIDIMap.Controller {
    let fields = try reader.fields(["controller", "sets", "from", "to", "values"])
    let number = try fields.required("controller", example: "7").integer(in: 0...127)
    let target = try fields.required("sets", example: "gain").word(MIDIMap.Target.self)
    let (from, to, values) = (fields.optional("from"), fields.optional("to"), fields.optional("values"))
    var scale = MIDIMap.Controller.standardScale(of: target)
    switch scale {
    case .decibels(let lowest, let highest):
      scale = .decibels(
        from: try from?.number(in: Decibels.outputGains, unit: "dB") ?? lowest,
        to: try to?.number(in: Decibels.outputGains, unit: "dB") ?? highest)
    case .words:
      if let values { scale = .words(try words(values, of: target)) }
    case .toggle: break
    }
    if target != .gain, let given = from ?? to {
      throw given.failure("is for gain only; \(target.rawValue) has no numbers: remove it")
    }
    if let values, [.gain, .mute, .record].contains(target) {
      throw values.failure("cannot be given for \(target.rawValue); remove it")
    }
    return MIDIMap.Controller(number: number, target: target, scale: scale)
  }

  private static func words(_ values: YAMLReader, of target: MIDIMap.Target) throws(DescriptionError)
    -> [String]
  {
    try values.elements(1...128, "values") { (value) throws(DescriptionError) in
      switch target {
      case .orientation: try value.word(InputOrientation.self).rawValue
      case .pattern: try value.word(PolarPattern.self).rawValue
      case .highPass: try value.highPass().word
      default: try value.string()
      }
    }
  }

  /// `text` with one more controller, everything else unchanged, comments too.
  /// - Parameter file: the file's path, for messages.
  /// - Throws: `DescriptionError` if `text` is invalid, uses the controller already, or has its controllers in one line.
  public static func text(adding new: MIDIMap.Controller, to text: String, file: String)
    throws(DescriptionError) -> String
  {
    let old = try read(text: text, file: file)
    if let other = old.controllers.first(where: { $0.number == new.number }) {
      throw DescriptionError(
        file: file, position: nil,
        message: "controller \(new.number) sets \(other.target.rawValue) already; remove it there first")
    }
    let lineEnd = text.contains("\r\n") ? "\r\n" : "\n"
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    while lines.last?.isEmpty ?? false { lines.removeLast() }
    if let start = lines.firstIndex(where: { $0.hasPrefix("controllers:") }) {
      let isItem = { (line: String) in line.drop(while: \.isWhitespace).hasPrefix("-") }
      let indentation =
        lines.dropFirst(start + 1).first(where: isItem).map { $0.prefix(while: \.isWhitespace) } ?? "  "
      if lines[start].replacing(" ", with: "") == "controllers:[]" { lines[start] = "controllers:" }
      lines.insert(indentation + line(new), at: start + 1)
    } else {
      lines += ["controllers:", "  " + line(new)]
    }
    let result = lines.joined(separator: lineEnd) + lineEnd
    var expected = old
    expected.controllers.insert(new, at: 0)
    guard let map = try? read(text: result, file: file), map == expected else {
      throw DescriptionError(
        file: file, position: nil,
        message: "the controllers are not one per line; add this line by hand: \(line(new))")
    }
    return result
  }

  private static func line(_ controller: MIDIMap.Controller) -> String {
    var fields = "controller: \(controller.number), sets: \(controller.target.rawValue)"
    switch controller.scale {
    case .decibels(let from, let to): fields += ", from: \(plain(from)), to: \(plain(to))"
    case .words(let words) where !words.isEmpty: fields += ", values: [\(words.joined(separator: ", "))]"
    case .words, .toggle: break
    }
    return "- {\(fields)}"
  }
}

extension YAMLReader {
  /// Reads a whole number within `range`.
  /// - Parameter word: a word that is allowed, too, for messages.
  func integer(in range: ClosedRange<Int>, or word: String? = nil) throws(DescriptionError) -> Int {
    let hint = word.map { ", or \($0)" } ?? ""
    guard case .scalar(let text, quoted: false) = node.content, let value = Int(text), range.contains(value)
    else {
      throw failure(
        "is \(node.kind); write a whole number from \(range.lowerBound) to \(range.upperBound)\(hint)")
    }
    return value
  }
}
