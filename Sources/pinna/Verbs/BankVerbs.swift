import FoundationEssentials
import Messages
import Presets
import Text

/// Banks: the presets that MIDI program changes choose.
extension Verb {
  static let bankList = Verb(
    name: "bank list", summary: "list the banks of presets for MIDI program changes", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let names = library.bankNames()
    if names.isEmpty, !arguments.isJSON {
      Tool.say("there is no bank; write one with: pinna bank save NAME PRESET,PRESET")
    }
    list(
      names, as: "banks", arguments, read: { try library.bank(named: $0) },
      json: { ["title": $0?.title, "presets": $0?.presets] },
      text: { "\($0.title) (\("preset".counted($0.presets.count)))" })
    return .done
  }

  static let bankShow = Verb(
    name: "bank show", operands: ["[BANK]"],
    summary: "list the presets of a bank, or without a bank all, by program number", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let bank = try library.bank(named: arguments.operands.first)
    var presets: [JSONObject] = []
    for (n, name) in bank.presets.enumerated() {
      let preset = Result { try library.preset(named: name) }
      presets.append(["program": n + 1, "name": name, "unusable": preset.fault])
      guard !arguments.isJSON else { continue }
      let text = (try? preset.get().title) ?? "unusable: \(preset.fault ?? "")"
      Tool.say("\(String(n + 1).padded(3)) \(name.padded(16)) \(text)")
    }
    if arguments.isJSON {
      Tool.say(json: (["name": bank.name, "title": bank.title, "presets": presets] as JSONObject).text)
    }
    return .done
  }

  static let bankSave = Verb(
    name: "bank save", operands: ["NAME", "PRESETS"],
    summary: "write a bank of presets, given in the order of their program numbers: a,b,c",
    options: [
      Option("--title", "TEXT", "what the bank is for (default: its name)"),
      Option("--force", nil, "replace a bank of this name"), jsonOption,
    ]
  ) { arguments in
    let library = PresetLibrary.standard
    let name = arguments.operands[0]
    let file = try UserFile(name: name, in: "banks", kind: "bank")
    let presets = try arguments.operands[1].listed.map { try library.preset(named: $0).name }
    let text = BankFile.text(of: Bank(name: name, title: arguments["--title"] ?? name, presets: presets))
    // A title that cannot be read back must not replace a good file.
    _ = try BankFile.read(YAMLReader(text: text, file: file.path))
    try file.write(text, replaces: arguments.has("--force"))
    arguments.print(
      json: ["file": file.path, "presets": presets],
      text: "saved \("preset".counted(presets.count)) as \(file.path)")
    return .done
  }

  static let bankUse = request(
    "bank use", ["BANK"], to: "/pinna/bank/use",
    summary: "let MIDI program changes choose from a bank, until the running Pinna ends", \MIDIReport.text)
}

extension MIDIReport {
  /// The programs of the bank in use, one per line.
  fileprivate var text: String {
    programs.enumerated().map { "\(String($0 + 1).padded(3)) \($1)" }.joined(separator: "\n")
  }
}
