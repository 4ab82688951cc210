import Foundation
import TestSupport

/// A program that a test starts. It is stopped by its process id when the last reference goes.
public final class Program {
  public struct Outcome: Sendable, CustomStringConvertible {
    /// The exit status, or the negative number of the signal that ended the program.
    public let status: Int32
    public let output: String
    public let error: String
    public var description: String { "status \(status)\n\(output)\(error)" }

    /// Standard output as one JSON document.
    public func json() throws -> [String: Any] {
      let object = try? JSONSerialization.jsonObject(with: Data(output.utf8))
      guard let dictionary = object as? [String: Any] else { throw SupportError("no JSON object: \(self)") }
      return dictionary
    }

    /// The lines of standard error, without those of a verb that waits: on a slow machine, any may.
    private var sentences: [Substring] {
      let isWaiting = /pinna: .*: ([0-9]+ s so far|[0-9]+ %.*)/
      return error.split(separator: "\n").filter { $0.wholeMatch(of: isWaiting) == nil }
    }

    /// Whether standard error is one sentence on one line, and standard output is empty.
    public var isOneSentence: Bool {
      output.isEmpty && error.hasPrefix("pinna: ") && error.hasSuffix("\n") && sentences.count == 1
    }

    /// Whether standard error has no sentence.
    public var hasNoComplaint: Bool { sentences.isEmpty }
  }

  private let process = Process()
  private let files: TemporaryFolder

  /// Makes the test process end as soon as its tests have. A thread of libjack that is cancelled inside the C library,
  /// when a test kills its server, may keep that library's locks for ever, and finalisers of other libraries would wait
  /// for them.
  private static let endsWithoutFinalisers: Void = {
    on_exit(
      { status, _ in
        fflush(nil)
        _exit(status)
      }, nil)
  }()

  public init(_ path: String, _ arguments: [String], environment: [String: String]? = nil) throws {
    Self.endsWithoutFinalisers
    files = try TemporaryFolder()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    if let environment { process.environment = environment }
    process.standardInput = FileHandle.nullDevice
    let (output, error) = (try Self.file(files, "output"), try Self.file(files, "error"))
    process.standardOutput = output
    process.standardError = error
    // The child has its own copies. Left open they add up, and past a thousand descriptors Process.run reads
    // beyond its list of them and crashes.
    defer {
      try? output.close()
      try? error.close()
    }
    // As a shell starts it: test threads may have signals blocked, which a program inherits.
    var (empty, previous) = (sigset_t(), sigset_t())
    sigemptyset(&empty)
    pthread_sigmask(SIG_SETMASK, &empty, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    try process.run()
  }

  deinit { stop() }

  public var isRunning: Bool { process.isRunning }
  /// Whether the program has ended by a signal.
  public var wasKilled: Bool { !process.isRunning && process.terminationReason == .uncaughtSignal }
  public var pid: Int32 { process.processIdentifier }

  /// Asks the program to end, and kills it if it does not.
  public func stop() {
    if process.isRunning { signal(SIGTERM) }
    if wait(seconds: 10) == nil {
      signal(SIGKILL)
      process.waitUntilExit()
    }
  }

  public func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Stops the program for so long, as a machine that sleeps does.
  public func suspend(seconds: Double) { LiveSupport.suspend(pid, seconds: seconds) }

  public var errorText: String { text("error") }
  /// Standard output so far.
  public var outputText: String { text("output") }

  /// The outcome; nil if the program still runs after `seconds`.
  public func wait(seconds: Double) -> Outcome? {
    guard waitUntil(seconds: seconds, { !process.isRunning }) else { return nil }
    let status = process.terminationStatus
    return Outcome(
      status: process.terminationReason == .exit ? status : -status, output: text("output"),
      error: text("error"))
  }

  /// Runs a program to its end.
  public static func run(
    _ path: String, _ arguments: [String], environment: [String: String]? = nil, seconds: Double = 120
  ) throws -> Outcome {
    let program = try Program(path, arguments, environment: environment)
    guard let outcome = program.wait(seconds: seconds) else {
      throw SupportError("\(path) \(arguments) did not end within \(seconds) s: \(program.errorText)")
    }
    return outcome
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOfFile: files.path + "/" + name, encoding: .utf8)) ?? ""
  }

  private static func file(_ folder: TemporaryFolder, _ name: String) throws -> FileHandle {
    FileHandle(forWritingAtPath: try folder.write("", to: name))!
  }
}

extension Program {
  /// The resident memory of the running program in kB.
  public func residentMemory() throws -> Int { try memory("VmRSS") }

  /// The most that it has had so far, in kB.
  public func mostMemory() throws -> Int { try memory("VmHWM") }

  private func memory(_ field: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
    guard let memory = line?.split(separator: " ").compactMap({ Int($0) }).first else {
      throw SupportError("process \(pid) has no resident memory")
    }
    return memory
  }

  /// The number of open descriptors of the running program.
  public func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
  }

  /// Whether the running program has a thread of that name, of at most 15 bytes.
  public func hasThread(_ name: String) -> Bool {
    let folder = "/proc/\(pid)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return threads.contains {
      (try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)) == name + "\n"
    }
  }
}

extension Program {
  /// Whether tests may mount disks: root may, but not in every container.
  public static let canMount =
    (try? run("/usr/bin/unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]))?.status == 0
}

public struct SupportError: Error, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// Stops a process for so long, as a machine that sleeps does. This time is what a test does, not what it waits for.
public func suspend(_ pid: Int32, seconds: Double) {
  kill(pid, SIGSTOP)
  usleep(UInt32(seconds * 1e6))
  kill(pid, SIGCONT)
}

/// Kills a process at a moment that a test has chosen, so long from now.
public func kill(_ pid: Int32, afterMicroseconds delay: Int) {
  usleep(UInt32(delay))
  kill(pid, SIGKILL)
}

/// Polls every few milliseconds. Returns false if `condition` did not come true within `seconds`.
public func waitUntil(
  seconds: Double, every milliseconds: UInt32 = 2, _ condition: () throws -> Bool
) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while try !condition() {
    if ContinuousClock.now > end { return false }
    usleep(1000 * milliseconds)
  }
  return true
}
