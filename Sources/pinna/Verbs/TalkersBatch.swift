import FoundationEssentials
import Glibc
import JackTools
import Messages
import Recording
import Settings
import Text
import Threads

/// `pinna talkers --takes`: each take by a child process, several at a time, so that one that fails leaves the others alone.
struct TalkersBatch {
  private struct Job {
    let take: String
    let output: String
    let process: ChildProcess
    let texts: RenderJob.Texts
  }

  /// The sidecar of each take, its file of talkers, and why it cannot be read; nil if it can.
  private var takes: [(sidecar: String, output: String, obstacle: String?)] = []
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
    jobs =
      try arguments.integer("--jobs", in: 1...1024) ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
    replaces = arguments.has("--force")
    let ending = ["webvtt": "vtt", "labels": "txt"][format.rawValue] ?? format.rawValue
    let folders = (arguments.options["--takes"] ?? []) + arguments.operands
    for (folder, place) in try RenderPlan.places(folders, into: OutputPath.withoutLinks(into)) {
      func add(_ stem: String, _ obstacle: String?) {
        takes.append(("\(folder)/\(stem).json", "\(place)/\(stem).\(ending)", obstacle))
      }
      var unreadable: [(String, String)] = []
      for take in TakeFolder(path: folder).endedTakes(unreadable: { unreadable.append(($0, $1)) }) {
        add(take.stem, nil)
      }
      for (stem, sentence) in unreadable { add(stem, sentence) }
    }
    guard !takes.isEmpty else {
      throw Failure(
        .failed,
        "no takes in \(folders.joined(separator: ", ")): a take has a sidecar, NAME.json, beside its sound")
    }
  }

  func run() throws -> ExitStatus {
    guard let program = HelperProcess.program else {
      throw Failure(.failed, "the program pinna is not there")
    }
    let stops = StopCount()
    Signals.onStop { stops.next() }
    let progress = WorkProgress.step("finding who speaks in \("take".counted(takes.count))")
    var (waiting, running, done, hasFailed) = (takes[...], [Job](), 0, false)
    func report(_ take: String, _ output: String, _ state: String, _ more: JSONObject = [:]) {
      done += 1
      progress(Double(done) / Double(takes.count))
      hasFailed = hasFailed || state == "failed"
      Tool.say(json: (["take": take, "output": output, "state": state] + more).text)
    }
    while !waiting.isEmpty || !running.isEmpty, stops.count == 0 {
      if running.count < jobs, let (take, output, obstacle) = waiting.popFirst() {
        if let obstacle {
          report(take, output, "failed", ["error": obstacle])
          continue
        }
        do {
          // Its own sidecar and folders are no lists.
          guard output != take, access(output + "/", F_OK) != 0 else {
            throw Failure(
              .failed, "\(output) is no list of talkers; give another folder with --into, or move it away")
          }
          guard replaces || access(output, F_OK) != 0 else {
            report(take, output, "skipped")
            continue
          }
          try OutputFolder.make(String(output[..<output.lastIndex(of: "/")!]))
          let texts = RenderJob.Texts()
          let process = try ChildProcess(
            program, ["talkers"] + words + (replaces ? ["--force"] : []) + [take, output],
            errors: texts.error)
          running.append(Job(take: take, output: output, process: process, texts: texts))
        } catch { report(take, output, "failed", ["error": "\(error)"]) }
        continue
      }
      running.removeAll { job in
        guard !job.process.isRunning else { return false }
        let remarks = job.texts.sentences
        if job.process.waitUntilExit() == .exit(0) {
          report(job.take, job.output, "listed", ["remarks": remarks])
        } else {
          report(job.take, job.output, "failed", ["error": remarks.last ?? "pinna talkers ended early"])
        }
        return true
      }
      usleep(5000)
    }
    guard stops.count == 0 else {
      for job in running { job.process.terminate() }
      for job in running { job.process.waitUntilExit() }
      throw Failure(
        .failed,
        "interrupted; \(done) of \("take".counted(takes.count)) \(done == 1 ? "is" : "are") done; the same command "
          + "does the others")
    }
    return hasFailed ? .incompleteTake : .done
  }
}
