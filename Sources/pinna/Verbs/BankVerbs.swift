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
    let entries = library.bankNames().map { name in (name, Result { try library.bank(named: name) }) }
    if arguments.isJSON {
      let banks = entries.map { name, result -> JSONObject in
        let bank = try? result.get()
        return ["name": name, "title": bank?.title, "presets": bank?.presets, "unusable": result.fault]
      }
      print((["banks": banks] as JSONObject).text)
      return .done
    }
    if entries.isEmpty { print("there is no bank; write one with: pinna bank save NAME PRESET,PRESET") }
    for (name, result) in entries {
      switch result {
      case .success(let bank):
        print("\(name.padded(16)) \(bank.title) (\("preset".counted(bank.presets.count)))")
      case .failure(let error): print("\(name.padded(16)) unusable: \(error)")
      }
    }
    return .done
  }

  static let bankShow = Verb(
    name: "bank show", operands: ["[BANK]"],
    summary: "list the presets of a bank, or without a bank all, by program number", options: [jsonOption]
  ) { arguments in
    let library = PresetLibrary.standard
    let bank = try library.bank(named: arguments.operands.first)
    let entries = bank.presets.map { name in (name: name, preset: Result { try library.preset(named: name) })
    }
    if arguments.isJSON {
      let presets = entries.enumerated().map { n, entry -> JSONObject in
        ["program": n + 1, "name": entry.name, "unusable": entry.preset.fault]
      }
      print((["name": bank.name, "title": bank.title, "presets": presets] as JSONObject).text)
      return .done
    }
    for (n, entry) in entries.enumerated() {
      let text = (try? entry.preset.get().title) ?? "unusable: \(entry.preset.fault ?? "")"
      print("\(String(n + 1).padded(3)) \(entry.name.padded(16)) \(text)")
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
    let words = arguments.operands[1].split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmed()
    }
    let presets = try words.map { try library.preset(named: $0).name }
    let text = BankFile.text(of: Bank(name: name, title: arguments["--title"] ?? name, presets: presets))
    // A title that cannot be read back must not replace a good file.
    _ = try BankFile.read(YAMLReader(text: text, file: file.path))
    try file.write(text, replaces: arguments.has("--force"))
    if arguments.isJSON {
      print((["file": file.path, "presets": presets] as JSONObject).text)
    } else {
      print("saved \("preset".counted(presets.count)) as \(file.path)")
    }
    return .done
  }

  static let bankUse = Verb(
    name: "bank use", operands: ["BANK"],
    summary: "let MIDI program changes choose from a bank, until the running Pinna ends",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/bank/use", [.string(arguments.operands[0])]), \MIDIReport.text)
  }
}

extension MIDIReport {
  /// The programs of the bank in use, one per line.
  fileprivate var text: String {
    programs.enumerated().map { "\(String($0 + 1).padded(3)) \($1)" }.joined(separator: "\n")
  }
}
