import Acoustics
import Glibc
import Messages
import Processor
import Recording
import Settings
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
    let takes = folder.takes(comparingSound: true) { unreadable.append($0) }
    if arguments.isJSON {
      Tool.say(json: (["folder": folder.path, "takes": takes] as JSONObject).text)
    } else {
      if takes.isEmpty, unreadable.isEmpty { Tool.say("no takes in \(folder.path.printable)") }
      for take in takes { Tool.say(take.text) }
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

  static let takesEdit = Verb(
    name: "takes edit", operands: ["TAKE"],
    summary: "change the title, a marker (both also in its WAV files) or the seats of a take that has ended",
    options: [
      Option("--title", "TEXT", "its title; none removes it"),
      Option("--marker", "TIME", "the place of a marker, as takes list shows it: 1:05.3; needs --label"),
      Option("--label", "TEXT", "the marker's label; none removes the marker"),
      Option(
        "--seat", Seat.placeholder + "|off",
        "who sat there, in degrees from the front, in place of the seats of before; may be given several times; off: nobody"
      ),
      jsonOption,
    ]
  ) { arguments in
    func text(_ option: String) -> String? { arguments[option].map { $0 == "none" ? "" : $0 } }
    var edits: [TakeEdit] = text("--title").map { [.title($0)] } ?? []
    guard arguments.has("--marker") == arguments.has("--label") else {
      throw Failure(
        .usage, "--marker and --label belong together; give both, as in --marker 1:05.3 --label Applause")
    }
    if let place = arguments["--marker"], let label = text("--label") {
      guard let seconds = seconds(ofClock: place) else {
        throw Failure(
          .usage, "\(place.quoted) is not a time; give seconds, or hours, minutes and seconds: 1:05.3")
      }
      edits.append(.marker(seconds: seconds, label: label))
    }
    if let seats = arguments.options["--seat"] {
      edits.append(.seats(try seats.map { $0.lowercased() } == ["off"] ? [] : Seat.list(seats)))
    }
    guard !edits.isEmpty else {
      throw Failure(.usage, "nothing to change; give --title, --seat, or --marker and --label")
    }
    let path = try OutputPath.withoutLinks(take(arguments.operands[0]))
    let parts = path.split(separator: "/")
    let folder = TakeFolder(path: "/" + parts.dropLast().joined(separator: "/"))
    let edited = try folder.edit(parts.last.map(String.init) ?? "", edits)
    for name in edited.unchanged {
      Tool.complain("\(name.printable) keeps the title and markers that it had; the sidecar has the new ones")
    }
    let (markers, seats) = (edited.sidecar.markers ?? [], edited.sidecar.setup.seats ?? [])
    arguments.print(
      json: [
        "sidecar": edited.path, "title": edited.sidecar.title ?? "", "markers": markers.count, "seats": seats,
      ],
      text: "\(edited.path.printable): \(edited.sidecar.title?.printable ?? "no title"), "
        + "marker".counted(markers.count) + seats.map { ", \($0.printable)" }.joined())
    return .done
  }

  /// The path of a take that was typed: a bare name may refer to one in the default folder.
  static func take(_ name: String) throws -> String {
    let inFolder = TakeFolder(path: nil).path + "/" + name
    let isBare = !name.contains("/") && access(name, F_OK) != 0 && access(inFolder, F_OK) == 0
    return isBare ? inFolder : try OutputPath.absolute(name)
  }

  /// Seconds of "1:02:05.3", "65.3" or "65".
  private static func seconds(ofClock text: String) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count),
      parts.allSatisfy({ $0.wholeMatch(of: /[0-9]{1,7}(\.[0-9]{1,9})?/) != nil })
    else { return nil }
    return parts.reduce(0) { $0 * 60 + (Double($1) ?? 0) }
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
  /// One line, and one for each marker.
  fileprivate var text: String {
    ([line] + markers.map { "  \($0.seconds.clock)  \($0.label.printable)" }).joined(separator: "\n")
  }

  private var line: String {
    var notes = [state.rawValue, "channel".counted(channels)]
    if feeds.contains(where: { $0 != FeedSetting.main }) {
      notes.append("feeds \(feeds.joined(separator: ", "))")
    }
    if let pinna, pinna != "pinna" { notes.append("of \(pinna)") }
    if microphones { notes.append("and microphones") }
    if files > 1 { notes.append("in \(files) files") }
    let missingText = missing.isEmpty ? "" : "; missing: " + missing.map(\.printable).joined(separator: "; ")
    return
      "\(path.printable)  \(seconds.clock)  \(title.map { "“\($0.printable)”  " } ?? "")\(notes.joined(separator: ", "))\(missingText)"
  }
}
