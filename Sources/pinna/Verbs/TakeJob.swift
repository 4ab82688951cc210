import CFiles
import FoundationEssentials
import Glibc
import Messages
import Settings
import Text
import Threads

/// A take that is being worked on: one child process after another, for each of its files.
///
/// Thread: the thread that made it.
final class TakeJob {
  struct Command {
    /// After `pinna`.
    let words: [String]
    let output: String
    /// The file of microphones that is rendered; nil for a verb that does not render, and says nothing when it is done.
    let microphones: String?
  }

  let take: TakeBatch.Take
  private var waiting: ArraySlice<Command>
  private var command: Command
  private var process: ChildProcess
  private var texts: Texts
  private let start = ContinuousClock.now
  private var documents: [Document] = []
  /// Frames of each file of microphones.
  private var frames: [String: Int] = [:]
  private var remarks: [String] = []
  private(set) var isOver = false
  /// Why it failed; nil if it did not.
  private(set) var error: String?

  /// What `pinna render --json` prints.
  private struct Document: Decodable {
    let frames: Int
    let channels: Int
    let sampleRate: Int
    let peak: Double
  }

  /// Files in memory for the standard output and error of a child.
  final class Texts {
    let output = pinna_memory_file()
    let error = pinna_memory_file()

    deinit {
      for file in [output, error] where file >= 0 { close(file) }
    }

    static func content(_ file: Int32) -> [UInt8] {
      lseek(file, 0, SEEK_SET)
      return Descriptor.readAll(file, limit: 1 << 20) ?? []
    }

    /// What a verb said on standard error, without its progress.
    var sentences: [String] {
      let lines = String(decoding: Self.content(error), as: UTF8.self).split(separator: "\n").map {
        String($0.hasPrefix("pinna: ") ? $0.dropFirst(7) : $0)
      }
      let isProgress = /.*: ([0-9]+ s so far|[0-9]+ %.*)|designing the filters of .*/
      return lines.filter { $0.wholeMatch(of: isProgress) == nil }
    }
  }

  /// - Parameter take: with a command at least.
  init(_ take: TakeBatch.Take) throws {
    self.take = take
    (command, waiting) = (take.commands[0], take.commands.dropFirst())
    (process, texts) = try Self.start(command)
  }

  private static func start(_ command: Command) throws -> (ChildProcess, Texts) {
    guard let program = HelperProcess.program else {
      throw Failure(.failed, "the program pinna is not there")
    }
    let texts = Texts()
    let words = command.words + (command.microphones == nil ? [] : ["--json"])
    return (try ChildProcess(program, words, output: texts.output, errors: texts.error), texts)
  }

  /// Whether it has its filters: it writes.
  var hasFilters: Bool {
    isOver || access(command.output + ".part", F_OK) == 0 || access(command.output, F_OK) == 0
  }

  /// Whether the last process has ended; starts the next one.
  func hasEnded() -> Bool {
    guard !isOver, !process.isRunning else { return isOver }
    let end = process.waitUntilExit()
    let sentences = texts.sentences
    let document = try? JSONDecoder().decode(Document.self, from: Data(Texts.content(texts.output)))
    if end == .exit(0), document != nil || command.microphones == nil {
      if let document, let microphones = command.microphones {
        documents.append(document)
        frames[microphones] = document.frames
      }
      remarks += sentences
    } else {
      remarks += sentences.dropLast()
      error = Self.fault(end, sentences.last, "pinna \(command.words[0])")
    }
    if error == nil, let next = waiting.popFirst() {
      do {
        (process, texts) = try Self.start(next)
        command = next
        return false
      } catch { self.error = "\(error)" }
    }
    isOver = true
    return true
  }

  private static func fault(_ end: ChildProcess.End, _ sentence: String?, _ verb: String) -> String {
    switch end {
    case .exit: sentence ?? "\(verb) ended without an answer"
    case .signal(let number): "\(verb) was ended by signal \(number)"
    }
  }

  var answer: JSONObject {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let own: JSONObject = ["remarks": remarks, "seconds": (seconds * 1000).rounded() / 1000]
    if let error { return own + ["error": error] }
    guard let first = documents.first else { return own }
    return own + [
      "frames": frames.values.reduce(0, +), "channels": first.channels, "sampleRate": first.sampleRate,
      "peak": documents.map(\.peak).max(),
    ]
  }

  /// Asks the process to end; it removes what it has written.
  func terminate() { process.terminate() }

  /// Waits for the end of the process, which was asked to.
  func waitUntilExit() {
    let deadline = ContinuousClock.now + .seconds(10)
    while process.isRunning, .now < deadline { usleep(5000) }
    process.kill()
  }
}
