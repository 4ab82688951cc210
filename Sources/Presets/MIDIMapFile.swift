import Acoustics
import Settings
import Text

/// Reads and extends the file that says what MIDI controllers change.
///
/// ```yaml
/// channel: 1       # 1 to 16, or any; optional
/// bank: evening    # the presets of program changes; optional
/// controllers:
///   - {controller: 7, sets: gain, from: -60, to: 6}   # dB
///   - {controller: 16, sets: gain, relative: twos-complement, click: 1}
///   - {controller: 64, sets: mute}                    # on from 64 on
///   - {controller: 8, sets: gain, feed: anna}
///   - {controller: 20, sets: orientation, values: [portrait, landscapeRight]}
///   - {note: 36, sets: record}                        # each press starts or ends a take
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
      if let other = map.controller(controller.source) {
        throw entry.failure(
          "uses \(controller.source), which sets \(other.targetName) already; remove one of them")
      }
      map.controllers.append(controller)
    }
    return map
  }

  private static func controller(_ reader: YAMLReader) throws(DescriptionError) -> MIDIMap.Controller {
    let fields = try reader.fields([
      "controller", "note", "sets", "feed", "relative", "from", "to", "click", "values",
    ])
    let source = try source(reader, fields)
    let target = try fields.required("sets", example: "gain").word(MIDIMap.Target.self)
    let feed = try fields.optional("feed")?.feedName() ?? FeedSetting.main
    let encoding = try fields.optional("relative")?.word(MIDIMap.RelativeEncoding.self)
    func refuse(_ keys: [String], _ reason: String) throws(DescriptionError) {
      for key in keys { if let field = fields.optional(key) { throw field.failure(reason) } }
    }
    let numbers = ["from", "to", "click"]
    let none = "cannot be given for \(target.rawValue); remove it"
    if !target.isSetting { try refuse(["feed"], none) }
    if encoding == nil { try refuse(["click"], "is for relative controllers only; remove it") }
    if case .note = source { try refuse(["relative"], "is for controllers only; remove it") }
    var scale = target.standardScale
    switch scale {
    case .range(var range):
      if case .note = source {
        throw reader.failure("cannot set \(target.rawValue) by a note; use a fader, knob or encoder")
      }
      try refuse(["values"], none)
      range.from = try fields.optional("from")?.number(in: range.limits, unit: range.unit) ?? range.from
      range.to = try fields.optional("to")?.number(in: range.limits, unit: range.unit) ?? range.to
      let clicks = 0.1...(range.limits.upperBound - range.limits.lowerBound)
      range.click = try fields.optional("click")?.number(in: clicks, unit: range.unit) ?? range.click
      scale = .range(range)
    case .words:
      try refuse(numbers, "is a number, and \(target.rawValue) has none; remove it")
      if let values = fields.optional("values") { scale = .words(try words(values, of: target)) }
    case .toggle, .trigger:
      try refuse(numbers + ["values"], none)
      try refuse(["relative"], "is for encoders, and \(target.rawValue) needs a button or a pad; remove it")
    }
    return MIDIMap.Controller(source, target, of: feed, scale: scale, encoding: encoding)
  }

  private static func source(_ reader: YAMLReader, _ fields: YAMLFields) throws(DescriptionError)
    -> MIDIMap.Source
  {
    guard let note = fields.optional("note") else {
      return .controller(try fields.required("controller", example: "7").integer(in: 0...127))
    }
    guard fields.optional("controller") == nil else {
      throw reader.failure("has both a controller and a note; write two entries")
    }
    return .note(try note.integer(in: 0...127))
  }

  private static func words(_ values: YAMLReader, of target: MIDIMap.Target) throws(DescriptionError)
    -> [String]
  {
    try values.elements(1...128, "values") { (value) throws(DescriptionError) in
      if let key = target.key { try value.value(of: key.row).word } else { try value.string() }
    }
  }

  /// `text` with one more controller, everything else unchanged, comments too.
  /// - Parameter file: the file's path, for messages.
  /// - Throws: `DescriptionError` if `text` is invalid, uses the controller already, or has its controllers in one
  ///   line.
  public static func text(adding new: MIDIMap.Controller, to text: String, file: String)
    throws(DescriptionError) -> String
  {
    let old = try read(text: text, file: file)
    let text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    if let other = old.controller(new.source) {
      throw DescriptionError(
        file: file, position: nil,
        message: "\(new.source) sets \(other.targetName) already; remove it there first")
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
    var fields =
      switch controller.source {
      case .controller(let number): "controller: \(number)"
      case .note(let number): "note: \(number)"
      }
    fields += ", sets: \(controller.target.rawValue)"
    if controller.feed != FeedSetting.main { fields += ", feed: \(controller.feed)" }
    if let encoding = controller.encoding { fields += ", relative: \(encoding.rawValue)" }
    switch controller.scale {
    case .range(let range):
      fields += ", from: \(range.from.plain), to: \(range.to.plain)"
      if controller.encoding != nil { fields += ", click: \(range.click.plain)" }
    case .words(let words) where !words.isEmpty:
      let values = words.map { DescriptionName.isValid($0) ? $0 : yamlString($0) }
      fields += ", values: [\(values.joined(separator: ", "))]"
    case .words, .toggle, .trigger: break
    }
    return "- {\(fields)}"
  }
}

extension YAMLReader {
  /// Reads the name of a feed, which need not exist.
  fileprivate func feedName() throws(DescriptionError) -> String {
    let name = try string()
    if FeedSetting.isMain(name) { return FeedSetting.main }
    guard FeedSetting.isName(name) else {
      throw failure("is \(name.quoted), which cannot name a feed; write letters and digits, such as anna")
    }
    return name
  }

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
