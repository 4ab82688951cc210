import Control
import Foundation
import Session

/// Verbs that read presets from their files.
extension Verb {
  static let presetList = Verb(
    name: "preset list", summary: "the presets that there are", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    for (path, remedy) in library.ignoredFiles() { Tool.complain("ignoring \(path); \(remedy)") }
    // A broken file is listed too, with what is wrong with it.
    let entries = library.presetNames().map { name in
      (name: name, preset: Result { try library.preset(named: name) })
    }
    if arguments.isJSON {
      print(
        try document([
          "presets": entries.map { entry -> [String: Any] in
            switch entry.preset {
            case .success(let preset):
              ["name": entry.name, "title": preset.title, "device": preset.device, "unusable": NSNull()]
            case .failure(let error):
              ["name": entry.name, "title": NSNull(), "device": NSNull(), "unusable": "\(error)"]
            }
          }
        ]))
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
    name: "preset show", operands: ["NAME"], summary: "a preset's file", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments.operands[0])
    if arguments.isJSON {
      print(
        try document([
          "name": preset.name, "title": preset.title, "device": preset.device,
          "dataSource": preset.selection.dataSource, "polarPattern": preset.selection.polarPattern.rawValue,
          "inputOrientation": preset.selection.inputOrientation.rawValue, "gainDB": preset.gain.value,
          "path": library.path(ofPreset: preset.name),
        ]))
    } else {
      print(try library.text(ofPreset: preset.name), terminator: "")
    }
    return .done
  }

  /// One JSON document, keys in order.
  static func document(_ object: [String: Any]) throws -> String {
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }
}
