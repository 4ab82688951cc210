import Control
import Foundation
import Session

/// Verbs that read presets from their files.
extension Verb {
  static let presetList = Verb(
    name: "preset list", summary: "the presets that there are", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let names = library.presetNames()
    if arguments.isJSON {
      print(try document(["presets": names]))
      return .done
    }
    for name in names {
      // A broken file is listed too, with what is wrong with it.
      do {
        print("\(name.padded(16)) \(try library.preset(named: name).title)")
      } catch { print("\(name.padded(16)) unusable: \(error)") }
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
