import Acoustics
import Control
import FoundationEssentials
import Messages
import Presets
import Settings
import Text

extension Verb {
  static let midiLearn = Verb(
    name: "midi learn", operands: ["TARGET"],
    summary:
      "let the MIDI controller or pad that is moved next change gain, mute, orientation, pattern, data-source, "
      + "look-azimuth, look-elevation, high-pass, or record, or set a marker",
    options: [
      Option("--feed", "NAME", "of this feed (default: main)"),
      Option("--from", "NUMBER", "gain in dB, or angle in degrees, at the lowest position (default: -60)"),
      Option("--to", "NUMBER", "the same at the highest position (default: 0)"),
      Option(
        "--values", "LIST",
        "the values to choose from, with commas, from the lowest position on; may be given several times"),
      nameOption, jsonOption,
    ]
  ) { arguments in
    let target = try MIDIMap.Target(word: arguments.operands[0])
    let library = PresetLibrary.standard
    let file = try UserFile(name: "controllers", in: "midi", kind: "file of controllers")
    // What is wrong with the file must be said before somebody moves a fader.
    _ = try library.midiMap()
    // And what is wrong with the options.
    let described = try controller(LearnAnswer(), target, arguments)
    // And a feed that does not exist.
    if let feed = arguments["--feed"], !FeedSetting.isMain(feed) {
      let _: FeedAnswer = try answer(arguments, OSCMethod.feedSet, feed)
    }
    // A running Pinna listens as the file says now.
    let report: MIDIReport = try answer(arguments, "/pinna/midi/load")
    WorkProgress.unwatch()
    let message = OSCMessage("/pinna/midi/learn", [.string(target.rawValue)])
    // What is moved from then on is heard.
    let learned: LearnAnswer = try ControlClient(name: arguments.name).request(
      message,
      onSent: {
        if report.sources.isEmpty { return }
        Tool.complain(
          "move the controller that shall set \(described.targetName): a fader through its whole range, an encoder slowly both "
            + "ways, a button or pad twice; stop with Ctrl-C")
      }
    ).document()
    let old =
      try library.midiMapPath.map { try String(contentsOfFile: $0, encoding: .utf8) }
      ?? "# What MIDI controllers change; see docs/midi.md of Pinna.\n"
    let new = try controller(learned, target, arguments)
    try file.write(MIDIMapFile.text(adding: new, to: old, file: file.path), replaces: true)
    let _: MIDIReport = try answer(arguments, "/pinna/midi/load")
    arguments.print(
      json: [
        "file": file.path, "channel": learned.channel, "target": target.rawValue,
        "feed": target.isSetting ? new.feed : nil,
        "heard": learned.heard,
        "controller": learned.controller, "note": learned.note, "relative": learned.relative,
      ],
      text: "\(learned.heard)\n\(new.source) sets \(new.targetName); saved in \(file.path)")
    return .done
  }

  /// The controller that the answer and the options describe, read back from a file so that both follow the same rules.
  private static func controller(_ learned: LearnAnswer, _ target: MIDIMap.Target, _ arguments: Arguments)
    throws -> MIDIMap.Controller
  {
    var fields = [learned.note.map { "note: \($0)" } ?? "controller: \(learned.controller ?? 0)"]
    fields.append("sets: \(target.rawValue)")
    if let feed = arguments["--feed"] { fields.append("feed: \(yamlString(feed))") }
    if let relative = learned.relative { fields.append("relative: \(relative)") }
    for option in ["from", "to"] {
      if let text = arguments["--" + option] { fields.append("\(option): \(text)") }
    }
    if arguments.has("--values") {
      let values = arguments.list("--values").map { $0.decimal == nil ? yamlString($0) : $0 }
      fields.append("values: [\(values.joined(separator: ", "))]")
    }
    do {
      let map = try MIDIMapFile.read(
        text: "controllers:\n  - {\(fields.joined(separator: ", "))}\n", file: "the options")
      return map.controllers[0]
    } catch {
      throw Failure(.usage, "these options describe no controller: \(error.message)")
    }
  }
}
