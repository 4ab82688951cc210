import Messages
import Presets
import Text

/// Verbs that read presets from their files.
extension Verb {
  static let presetList = Verb(
    name: "preset list", summary: "list the presets", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    if let absence = library.shippedAbsence { Tool.complain(absence) }
    for (path, remedy) in library.ignoredFiles() { Tool.complain("ignoring \(path); \(remedy)") }
    list(
      library.presetNames(), as: "presets", arguments, read: library.preset(named:),
      json: { ["title": $0?.title, "device": $0?.device] }, text: \.title)
    return .done
  }

  /// Prints what is in the files of some names. Malformed files are listed, too, with their error.
  /// - Parameters:
  ///   - key: of the list in the JSON document.
  ///   - json: what it says of a file besides its name; given nil, null for each of these.
  static func list<Contents>(
    _ names: [String], as key: String, _ arguments: Arguments, read: (String) throws -> Contents,
    json: (Contents?) -> JSONObject, text: (Contents) -> String
  ) {
    var objects: [JSONObject] = []
    for name in names {
      let result = Result { try read(name) }
      let contents = try? result.get()
      objects.append(json(contents) + ["name": name, "unusable": result.fault])
      if !arguments.isJSON {
        Tool.say("\(name.padded(16)) \(contents.map(text) ?? "unusable: \(result.fault ?? "")")")
      }
    }
    if arguments.isJSON { Tool.say(json: ([key: objects] as JSONObject).text) }
  }

  static let presetShow = Verb(
    name: "preset show", operands: ["NAME"], summary: "print a preset's file", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let name = arguments.operands[0]
    // The text is printed even if the file is malformed; the error follows.
    if !arguments.isJSON {
      let text = try library.text(ofPreset: name)
      Tool.say(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }
    let preset = try library.preset(named: name)
    if arguments.isJSON {
      Tool.say(
        json: ([
          "name": preset.name, "title": preset.title, "device": preset.device,
          "dataSource": preset.main.selection.dataSource, "polarPattern": preset.main.selection.polarPattern,
          "inputOrientation": preset.main.selection.inputOrientation, "gainDB": preset.main.gain.value,
          "highPassHz": preset.main.highPass.frequency?.value,
          "adaptation": preset.main.adaptation > 0 ? preset.main.adaptation : nil,
          "path": try library.path(ofPreset: preset.name),
        ] as JSONObject).text)
    }
    return .done
  }
}

extension Result {
  /// The error as text; nil for a success.
  var fault: String? {
    if case .failure(let error) = self { "\(error)".printable } else { nil }
  }
}
