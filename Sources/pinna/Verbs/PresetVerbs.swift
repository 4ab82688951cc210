import Messages
import Presets

/// Verbs that read presets from their files.
extension Verb {
  static let presetList = Verb(
    name: "preset list", summary: "list the presets", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    if let absence = library.shippedAbsence { Tool.complain(absence) }
    for (path, remedy) in library.ignoredFiles() { Tool.complain("ignoring \(path); \(remedy)") }
    // Malformed files are listed, too, with their error.
    let entries = library.presetNames().map { name in
      (name: name, preset: Result { try library.preset(named: name) })
    }
    if arguments.isJSON {
      let presets = entries.map { name, result -> JSONObject in
        let preset = try? result.get()
        return [
          "name": name, "title": preset?.title, "device": preset?.device, "unusable": result.fault,
        ]
      }
      print((["presets": presets] as JSONObject).text)
      return .done
    }
    for entry in entries {
      switch entry.preset {
      case .success(let preset): print("\(entry.name.padded(16)) \(preset.title)")
      case .failure(let error): print("\(entry.name.padded(16)) unusable: \(error)")
      }
    }
    return .done
  }

  static let presetShow = Verb(
    name: "preset show", operands: ["NAME"], summary: "print a preset's file", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let name = arguments.operands[0]
    // The text is printed even if the file is malformed; the error follows.
    if !arguments.isJSON { print(try library.text(ofPreset: name), terminator: "") }
    let preset = try library.preset(named: name)
    if arguments.isJSON {
      let object: JSONObject = [
        "name": preset.name, "title": preset.title, "device": preset.device,
        "dataSource": preset.selection.dataSource, "polarPattern": preset.selection.polarPattern,
        "inputOrientation": preset.selection.inputOrientation, "gainDB": preset.gain.value,
        "highPassHz": preset.highPass.frequency?.value,
        "path": try library.path(ofPreset: preset.name),
      ]
      print(object.text)
    }
    return .done
  }
}
