import Glibc
import Messages
import Settings
import Threads

/// Pictures of who spoke in takes, for the web page. A process of its own finds them, which may take a while: one at a time,
/// and only for so long.
///
/// Thread: any that may wait.
final class TalkerPictures: Sendable {
  /// In seconds: for some eighty minutes of an array.
  private static let patience = 120

  private let isBusy = Locked(false)

  /// - Parameter path: a file of a take.
  /// - Returns: an SVG.
  func picture(of path: String) throws -> [UInt8] {
    let isFree = isBusy.withLock { isBusy in
      defer { isBusy = true }
      return !isBusy
    }
    guard isFree else {
      throw Failure(.refused, "the talkers of another take are being found; try again in a while")
    }
    defer { isBusy.withLock { $0 = false } }
    // Of this thread, which ends afterwards, and of the process that it starts: sound comes first.
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    guard let program = HelperProcess.program else {
      throw Failure(.failed, "the program pinna is not there")
    }
    let texts = TakeJob.Texts()
    let process = try ChildProcess(program, [Self.word, path], output: texts.output, errors: texts.error)
    let end = ContinuousClock.now + .seconds(Self.patience)
    while process.isRunning {
      guard .now < end else {
        process.kill()
        process.waitUntilExit()
        throw Failure(
          .failed,
          "to find who speaks in \(path) takes longer than \(Self.patience) s; run: pinna report \(path)")
      }
      usleep(20_000)
    }
    guard process.waitUntilExit() == .exit(0) else {
      throw Failure(.failed, texts.sentences.last ?? "nobody can be found in \(path)")
    }
    return TakeJob.Texts.content(texts.output)
  }

  // MARK: - In the child process

  /// The first word of that process; the take follows.
  static let word = "--draw-talkers"

  /// Writes the picture of a take to standard output.
  static func draw(_ words: [String]) -> Int32 {
    do {
      var recording = try TalkerRecording(words.first ?? "", device: nil)
      let plot = TalkerPlot(name: recording.name, utterances: try recording.utterances(seats: [])).plot
      return Descriptor.writeAll(try plot.image(named: "talkers.svg"), to: STDOUT_FILENO) ? 0 : 1
    } catch {
      Tool.complain("\(error)")
      return 1
    }
  }
}
