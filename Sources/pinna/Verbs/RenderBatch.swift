import FoundationEssentials
import Glibc
import JackTools
import Messages
import Settings
import Text
import Threads

/// `pinna render --takes`: every take by a child process `pinna render`, several at a time. So a take that fails, or
/// crashes, leaves the others alone. Outputs get their names when they are whole: what has its name is complete.
struct RenderBatch {
  private let plan: RenderPlan
  /// The options of every `pinna render`.
  private let words: [String]
  private let target: String
  private let jobs: Int
  private let isPrinted: Bool
  private let replaces: Bool

  init(_ arguments: Arguments) throws {
    guard let into = arguments["--into"] else {
      throw Failure(.usage, "--takes needs a folder for the outputs; add --into DIR")
    }
    guard !arguments.flags.contains("--talkers") else {
      throw Failure(.usage, "--talkers without a level and --takes exclude each other; leave one out")
    }
    target = try OutputPath.withoutLinks(into)
    jobs =
      try arguments.integer("--jobs", in: 1...1024) ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
    isPrinted = arguments.has("--print-jobs")
    replaces = arguments.has("--force")
    let ending = try arguments.soundEnding()
    if let order = try arguments.ambisonics()?.ambisonicsOrder {
      _ = try arguments.ambisonicFormat(order: order, path: "." + ending)
    }
    words = try RenderMark.words(Self.withAbsolutePaths(arguments))
    let folders = (arguments.options["--takes"] ?? []) + arguments.operands
    plan = try RenderPlan(folders, into: target, Arguments(words + ["-", "-"], of: .render))
    guard !plan.takes.isEmpty else {
      throw Failure(
        .failed,
        "no takes in \(folders.joined(separator: ", ")): a take has a sidecar, NAME.json, beside its sound; render a file "
          + "of microphones without one with: pinna render MICS.wav OUT.wav")
    }
  }

  /// Jobs may run in other folders.
  private static func withAbsolutePaths(_ arguments: Arguments) throws(Failure) -> Arguments {
    var arguments = arguments
    for option in ["--device", "--hrtf"] {
      guard let value = arguments[option], value.contains("/") || option == "--hrtf" else { continue }
      arguments.options[option] = [try OutputPath.absolute(value)]
    }
    return arguments
  }

  func run() throws -> ExitStatus {
    isPrinted ? try printJobs() : try render()
  }

  /// Creates the folders of the outputs.
  private func makeFolders() throws {
    let folders = Set(
      plan.takes.flatMap(\.pieces).map { String($0.output.prefix(upTo: $0.output.lastIndex(of: "/")!)) })
    for folder in folders.sorted() { try OutputFolder.make(folder) }
  }

  // MARK: Printing

  /// One line for each take that is not complete.
  private func printJobs() throws -> ExitStatus {
    try makeFolders()
    var isWhole = true
    for take in plan.takes {
      if let fault = fault(of: take) {
        Tool.complain("\(take.path): \(fault)")
        isWhole = false
        continue
      }
      let commands = take.pieces.filter { !$0.isComplete }.map { piece in
        ([Self.programAsTyped] + command(piece)).map(Shell.word).joined(separator: " ")
      }
      if !commands.isEmpty { Tool.say(commands.joined(separator: " && ")) }
    }
    return isWhole ? .done : .incompleteTake
  }

  /// The word that started this program: a path works in any folder.
  private static var programAsTyped: String {
    let word = CommandLine.arguments[0]
    return word.contains("/") ? (try? OutputPath.absolute(word)) ?? word : word
  }

  private func command(_ piece: RenderPlan.Piece) -> [String] {
    // What is there and complete is skipped, what is somebody else's is a fault: the rest is of an earlier job.
    ["render", "--force"] + words + (piece.feed.map { ["--feed", $0] } ?? []) + [
      piece.microphones, piece.output,
    ]
  }

  /// Why a take is not rendered; nil if it is.
  private func fault(of take: RenderPlan.Take) -> String? {
    if let obstacle = take.obstacle { return obstacle }
    return replaces
      ? nil
      : take.pieces.first(where: \.isOccupied).map {
        "\($0.output) is there, and is not this take with these options; give another --into, or --force to replace it"
      }
  }

  // MARK: Rendering

  private func render() throws -> ExitStatus {
    try makeFolders()
    let stops = StopCount()
    Signals.onStop { stops.next() }
    let progress = WorkProgress.step("rendering \("take".counted(plan.takes.count))")
    var waiting: [(take: RenderPlan.Take, pieces: [RenderPlan.Piece])] = []
    var (running, designs, done) = ([RenderJob](), [String: RenderJob?](), 0)
    var hasFailed = false
    func report(_ take: RenderPlan.Take, _ state: String, _ more: JSONObject) {
      done += 1
      progress(Double(done) / Double(plan.takes.count))
      hasFailed = hasFailed || state == "failed"
      let outputs = take.pieces.map(\.output)
      Tool.say(
        json: (["take": take.path, "output": outputs.first, "outputs": outputs, "state": state] + more).text)
    }
    for take in plan.takes {
      let pieces = take.pieces.filter { !$0.isComplete }
      if let fault = fault(of: take) {
        report(take, "failed", ["error": fault])
      } else if pieces.isEmpty {
        report(take, "skipped", [:])
      } else {
        waiting.append((take, pieces))
      }
    }
    while !waiting.isEmpty || !running.isEmpty, stops.count == 0 {
      // One job designs the filters of a device, and the others take them from the cache.
      let next = waiting.firstIndex { designs[$0.take.design].map { $0?.hasFilters ?? true } ?? true }
      if running.count < jobs, let next {
        let (take, pieces) = waiting.remove(at: next)
        do {
          let job = try RenderJob(take, pieces.map { ($0, command($0)) })
          if designs[take.design] == nil { designs[take.design] = job }
          running.append(job)
        } catch { report(take, "failed", ["error": "\(error)"]) }
        continue
      }
      for job in running where try job.hasEnded() {
        if designs[job.take.design] ?? nil === job { designs[job.take.design] = .some(nil) }
        report(job.take, job.error == nil ? "rendered" : "failed", job.answer)
      }
      running.removeAll { $0.isOver }
      usleep(5000)
    }
    guard stops.count == 0 else {
      for job in running { job.terminate() }
      for job in running { job.waitUntilExit() }
      throw Failure(
        .failed,
        "interrupted; \(done) of \("take".counted(plan.takes.count)) \(done == 1 ? "is" : "are") done; the same command "
          + "renders the others")
    }
    return hasFailed ? .incompleteTake : .done
  }
}
