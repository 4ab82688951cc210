import Acoustics
import Messages
import Presets
import Settings
import Text

/// Verbs that write and check preset files.
extension Verb {
  static let presetSave = Verb(
    name: "preset save", operands: ["NAME"],
    summary: "save the setting of the running Pinna as a preset",
    options: [
      Option("--title", "TEXT", "what the preset is for (default: its setting)"),
      Option("--connections", nil, "also save the connections of the ports; preset use then makes them"),
      Option("--force", nil, "replace a preset of this name"), nameOption, jsonOption,
    ]
  ) { arguments in
    let library = PresetLibrary.standard
    let name = arguments.operands[0]
    let file = try UserFile(name: name, in: nil, kind: "preset")
    let status: StatusReport = try answer(arguments, "/pinna/status")
    let device: Device
    do { device = try library.device(named: status.device) } catch is DescriptionNotFound {
      guard status.input.portType != .lineIn else {
        throw Failure(
          .failed,
          "the input \(status.input.name) is a single capture port, which no preset can name; choose a microphone "
            + "array (list them with: pinna inputs)")
      }
      throw Failure(
        .failed,
        "the device \(status.device) is in no presets folder, so no preset can name it; copy its file to "
          + "\(file.folder)/devices")
    }
    let preset = Preset(
      name: name, title: arguments["--title"] ?? status.selectionText, device: device.name,
      main: status.first, others: (status.feeds ?? []).map(\.first),
      connections: arguments.has("--connections") ? status.presetConnections : [],
      seats: try Seat.list(status.seats ?? []))
    let text = PresetFile.text(of: preset)
    // A title that cannot be read back must not replace a good file.
    _ = try PresetFile.read(
      YAMLReader(text: text, file: "the preset \(name)"), device: library.device(named:))
    if let hidden = try? library.path(ofPreset: name), hidden != file.path, !arguments.has("--force") {
      throw Failure(
        .failed,
        "there is a preset \(name) already, in \(hidden); give another name, or --force to hide that one")
    }
    try file.write(text, replaces: arguments.has("--force"))
    arguments.print(
      json: ["file": file.path, "preset": name], text: "saved \(status.selectionText) as \(file.path)")
    return .done
  }

  static let presetCheck = Verb(
    name: "preset check", operands: ["[PRESET]"],
    summary:
      "read a preset, given by its name or file, or all, and point at mistakes; status 1 if there are any",
    options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let names = arguments.operands.isEmpty ? library.presetNames() : arguments.operands
    var results: [JSONObject] = []
    var failed = false
    for name in names {
      do {
        let reader = try reader(name, in: library)
        let preset = try PresetFile.read(reader, device: library.device(named:))
        let device = try library.device(named: preset.device)
        try PresetFile.checkParts(reader, of: preset)
        _ = try FeedFilters(of: preset, on: device, sampleRate: 48000)
        results.append(["name": preset.name, "device": preset.device, "fault": nil as String?])
        if !arguments.isJSON { Tool.say("\(preset.name.padded(20)) ok: \(preset.text)") }
      } catch {
        failed = true
        results.append(["name": name, "fault": "\(error)"])
        if !arguments.isJSON { Tool.say("\(name.printable.padded(20)) unusable: \("\(error)".printable)") }
      }
    }
    if arguments.isJSON { Tool.say(json: (["presets": results] as JSONObject).text) }
    return failed ? .failed : .done
  }

  /// A preset by its name, or by its file where `word` has a slash or ends like one.
  private static func reader(_ word: String, in library: PresetLibrary) throws -> YAMLReader {
    let isFile = word.contains("/") || DescriptionName.extensions.contains(where: word.hasSuffix)
    return try YAMLReader(path: isFile ? word : library.path(ofPreset: word))
  }
}

extension Preset {
  /// "phone5, Back, stereo, portrait"
  fileprivate var text: String {
    "\(device), \(main.selection.dataSource), \(main.selection.polarPattern.rawValue), \(main.selection.inputOrientation.rawValue)"
  }
}

extension StatusReport {
  /// "phone5: Back, stereo, portrait"
  fileprivate var selectionText: String {
    let selection = self.selection
    let orientation = selection.polarPattern.isOriented ? ", \(selection.inputOrientation.rawValue)" : ""
    return "\(self.device): \(selection.dataSource), \(selection.polarPattern.rawValue)\(orientation)"
  }

  /// The connections of all own ports.
  fileprivate var presetConnections: [Setting.Connection] {
    (self.connections ?? []).flatMap { own in own.peers.map { Setting.Connection(port: own.port, peer: $0) } }
  }
}
