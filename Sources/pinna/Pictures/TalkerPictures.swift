import Acoustics
import FoundationEssentials
import Glibc
import Messages
import Recording
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

  /// What `pinna talkers --json` prints.
  private struct List: Decodable {
    struct Row: Decodable {
      let begin, duration: Double
      let name: String
      let azimuth, elevation, level, confidence: Double
    }
    let take: String
    let talkers: [Row]
  }

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
    let list = try list(path)
    var numbers: [String: Int] = [:]
    let utterances = list.talkers.compactMap { row -> Utterance? in
      let number = numbers[row.name] ?? numbers.count + 1
      numbers[row.name] = number
      return Look(azimuth: row.azimuth, elevation: row.elevation).map {
        Utterance(
          number: number, name: row.name, begin: row.begin, duration: row.duration, look: $0,
          level: row.level,
          confidence: row.confidence)
      }
    }
    return try TalkerPlot(name: list.take, utterances: utterances).plot.image(named: "talkers.svg")
  }

  private func list(_ path: String) throws -> List {
    // Of this thread, which ends afterwards, and of the process that it starts: sound comes first.
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    guard let program = HelperProcess.program else {
      throw Failure(.failed, "the program pinna is not there")
    }
    let texts = RenderJob.Texts()
    let process = try ChildProcess(
      program, ["talkers", path, "--json"], output: texts.output, errors: texts.error)
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
    guard process.waitUntilExit() == .exit(0),
      let list = try? JSONDecoder().decode(List.self, from: Data(RenderJob.Texts.content(texts.output)))
    else {
      throw Failure(.failed, texts.sentences.last ?? "nobody can be found in \(path)")
    }
    return list
  }
}
