import Glibc
import Messages
import Recording
import Settings

/// `pinna talkers --takes`: each take by a child process `pinna talkers`.
struct TalkersBatch {
  private var takes: [TakeBatch.Take] = []
  /// The options of every `pinna talkers`.
  private let words: [String]
  private let jobs: Int
  private let replaces: Bool

  init(_ arguments: Arguments) throws {
    guard let into = arguments["--into"] else {
      throw Failure(.usage, "--takes needs a folder for the files; add --into DIR")
    }
    for option in ["--device", "--name", "--follow"] where arguments.has(option) {
      throw Failure(.usage, "\(option) goes with one recording or a running Pinna; leave it out, or --takes")
    }
    let format = try TalkerFormat(word: arguments["--to"] ?? "csv")
    let seats = try Seat.list(arguments.options["--seat"] ?? [])
    words = ["--to", format.rawValue] + seats.flatMap { ["--seat", $0.word] }
    jobs = try TakeBatch.jobs(arguments)
    replaces = arguments.has("--force")
    let ending = ["webvtt": "vtt", "labels": "txt"][format.rawValue] ?? format.rawValue
    let folders = (arguments.options["--takes"] ?? []) + arguments.operands
    for (folder, place) in try RenderPlan.places(folders, into: OutputPath.withoutLinks(into)) {
      var unreadable: [(String, String)] = []
      for take in TakeFolder(path: folder).endedTakes(unreadable: { unreadable.append(($0, $1)) }) {
        takes.append(work("\(folder)/\(take.stem).json", "\(place)/\(take.stem).\(ending)"))
      }
      takes += unreadable.map {
        .init(path: "\(folder)/\($0).json", outputs: ["\(place)/\($0).\(ending)"], fault: $1, commands: [])
      }
      takes += RenderPlan.unfinished(in: TakeFolder(path: folder)).map {
        .init(path: $0, outputs: [], fault: $1, commands: [])
      }
    }
    guard !takes.isEmpty else {
      throw Failure(
        .failed,
        "no takes in \(folders.joined(separator: ", ")): a take has a sidecar, NAME.json, beside its sound")
    }
  }

  private func work(_ sidecar: String, _ output: String) -> TakeBatch.Take {
    // Its own sidecar and folders are no lists.
    guard output != sidecar, access(output + "/", F_OK) != 0 else {
      let fault = "\(output) is no list of talkers; give another folder with --into, or move it away"
      return .init(path: sidecar, outputs: [output], fault: fault, commands: [])
    }
    let words = ["talkers"] + words + (replaces ? ["--force"] : []) + [sidecar, output]
    let isThere = !replaces && access(output, F_OK) == 0
    return .init(
      path: sidecar, outputs: [output], fault: nil,
      commands: isThere ? [] : [.init(words: words, output: output, microphones: nil)])
  }

  func run() throws -> ExitStatus {
    try TakeBatch(takes: takes, jobs: jobs, verbs: ("finding who speaks in", "listed", "does")).run()
  }
}
