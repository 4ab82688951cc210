import Glibc
import Messages
import Processor
import Recording
import Text

extension Verb {
  private static let folderOption = Option(
    "--dir", "DIR", "folder of the takes (default: pinna in the music folder)")

  private static func folder(_ arguments: Arguments) throws -> TakeFolder {
    guard let typed = arguments["--dir"] else { return TakeFolder(path: nil) }
    let path = try OutputPath.withoutLinks(typed)
    try InputPath.checkFolder(path)
    return TakeFolder(path: path)
  }

  static let takesList = Verb(
    name: "takes list", summary: "list the takes, oldest first",
    options: [folderOption, jsonOption]
  ) { arguments in
    let folder = try folder(arguments)
    var unreadable: [String] = []
    let takes = folder.takes { unreadable.append($0) }
    if arguments.isJSON {
      Tool.say(json: (["folder": folder.path, "takes": takes] as JSONObject).text)
    } else {
      if takes.isEmpty, unreadable.isEmpty { Tool.say("no takes in \(folder.path.printable)") }
      for take in takes { Tool.say(take.line) }
      let cut = takes.count { $0.state == .cut }
      if cut > 0 {
        let notice = cut == 1 ? "1 take was cut off; finish it" : "\(cut) takes were cut off; finish them"
        Tool.say(
          "\(notice) with: pinna takes repair"
            + (arguments["--dir"].map { " --dir \(Shell.word($0).printable)" } ?? ""))
      }
    }
    for sentence in unreadable { Tool.complain(sentence) }
    return unreadable.isEmpty ? .done : .failed
  }

  static let takesRepair = Verb(
    name: "takes repair", summary: "finish the takes that a crash or a power cut interrupted",
    options: [folderOption, jsonOption]
  ) { arguments in
    let folder = try folder(arguments)
    let takes = folder.repair()
    if arguments.isJSON {
      Tool.say(json: (["folder": folder.path, "repaired": takes] as JSONObject).text)
    } else if takes.isEmpty {
      Tool.say("nothing to repair in \(folder.path.printable)")
    }
    for take in takes {
      if let fault = take.fault {
        Tool.complain("\(take.path) could not be repaired: \(fault)")
      } else if !arguments.isJSON {
        let removed = take.removed.map(\.printable).joined(separator: ", ")
        Tool.say(
          "\(take.path.printable): \(take.frames) frames"
            + (removed.isEmpty ? "" : "; removed and not repaired: \(removed)"))
      }
    }
    return takes.allSatisfy { $0.fault == nil } ? .done : .failed
  }
}

extension ListedTake {
  fileprivate var line: String {
    var notes = [state.rawValue, "channel".counted(channels)]
    if let pinna, pinna != "pinna" { notes.append("of \(pinna)") }
    if microphones { notes.append("and microphones") }
    if files > 1 { notes.append("in \(files) files") }
    let missingText = missing.isEmpty ? "" : "; missing: " + missing.map(\.printable).joined(separator: "; ")
    return "\(path.printable)  \(seconds.clock)  \(notes.joined(separator: ", "))\(missingText)"
  }
}
