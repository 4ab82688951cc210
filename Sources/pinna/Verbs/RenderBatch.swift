import Messages
import Settings
import Text

/// `pinna render --takes`: every take by child processes `pinna render`. Outputs get their names when they are whole: what
/// has its name is complete.
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
    jobs = try TakeBatch.jobs(arguments)
    isPrinted = arguments.has("--print-jobs")
    replaces = arguments.has("--force")
    let names = arguments["--feeds"].flatMap { $0.lowercased() == "all" ? nil : $0.lowercased().listed }
    if let given = arguments["--feeds"],
      names?.contains(where: { !FeedSetting.isMain($0) && !FeedSetting.isName($0) }) ?? false
    {
      throw Failure(
        .usage, "\(given.quoted) names no feeds of takes; with --takes give names with commas, or all")
    }
    for option in ["--preset", "--device", "--feed"] where names != nil && arguments.has(option) {
      throw Failure(
        .usage, "--feeds names feeds that were recorded; \(option) says what to render instead: leave one out"
      )
    }
    var arguments = arguments
    arguments.options["--feeds"] = nil
    let ending = try arguments.soundEnding()
    if let order = try arguments.ambisonics()?.ambisonicsOrder {
      _ = try arguments.ambisonicFormat(order: order, path: "." + ending)
    }
    words = try RenderMark.words(Self.withAbsolutePaths(arguments))
    let folders = (arguments.options["--takes"] ?? []) + arguments.operands
    plan = try RenderPlan(folders, into: target, Arguments(words + ["-", "-"], of: .render), feeds: names)
    guard !plan.takes.isEmpty else {
      throw Failure(
        .failed,
        "no takes in \(folders.joined(separator: ", ")): a take has a sidecar, NAME.json, beside its sound; render a file "
          + "of microphones without one with: pinna render MICS.wav OUT.wav")
    }
  }

  /// Options that name files; a device may be named by itself.
  private static let optionsOfFiles = ["--device", "--hrtf", "--automation"]

  /// Jobs may run in other folders.
  private static func withAbsolutePaths(_ arguments: Arguments) throws(Failure) -> Arguments {
    var arguments = arguments
    for option in optionsOfFiles {
      guard let value = arguments[option], value.contains("/") || option != "--device" else { continue }
      arguments.options[option] = [try OutputPath.absolute(value)]
    }
    return arguments
  }

  func run() throws -> ExitStatus {
    let takes = plan.takes.map { take in
      let commands = take.pieces.filter { !$0.isComplete }.map {
        TakeJob.Command(words: words(for: $0), output: $0.output, microphones: $0.microphones)
      }
      return TakeBatch.Take(
        path: take.path, outputs: take.pieces.map(\.output), design: take.design, fault: fault(of: take),
        commands: commands)
    }
    guard isPrinted else {
      return try TakeBatch(takes: takes, jobs: jobs, verbs: ("rendering", "rendered", "renders")).run()
    }
    for take in takes { try take.makeFolders() }
    return Self.print(takes)
  }

  /// Prints one line for each take that is not complete.
  private static func print(_ takes: [TakeBatch.Take]) -> ExitStatus {
    for take in takes {
      if let fault = take.fault {
        Tool.complain("\(take.path): \(fault)")
      } else if !take.commands.isEmpty {
        Tool.say(
          take.commands.map { ([programAsTyped] + $0.words).map(Shell.word).joined(separator: " ") }
            .joined(separator: " && "))
      }
    }
    return takes.contains { $0.fault != nil } ? .incompleteTake : .done
  }

  /// The word that started this program: a path works in any folder.
  private static var programAsTyped: String {
    let word = CommandLine.arguments[0]
    return word.contains("/") ? (try? OutputPath.absolute(word)) ?? word : word
  }

  private func words(for piece: RenderPlan.Piece) -> [String] {
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
}
