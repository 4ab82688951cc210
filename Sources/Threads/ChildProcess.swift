import CFiles
import Glibc

/// A child process. It has its own process group, so that signals from a terminal do not reach it, blocks no signals,
/// and inherits no descriptors but the three standard ones.
///
/// Thread: any, one at a time.
package final class ChildProcess {
  /// How a process ended.
  package enum End: Equatable, Sendable {
    /// With this exit status.
    case exit(Int32)
    /// By this signal.
    case signal(Int32)
  }

  /// The process ID. It belongs to the child as long as `isRunning` has not been false.
  package let pid: pid_t
  private var end: End?

  /// Starts the program at `path`.
  /// - Parameters:
  ///   - arguments: without the program's name.
  ///   - environment: nil for that of this process.
  ///   - input: the descriptor that becomes the child's standard input. It stays open here. Nil for /dev/null.
  ///   - output: the same for its standard output.
  ///   - errors: the same for its standard error.
  package init(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: Int32? = nil,
    output: Int32? = nil, errors: Int32? = nil
  ) throws(NoProcess) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (standard, descriptor) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
      } else {
        posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
      }
    }
    // The JACK server considers this process alive while any copy of its socket is open.
    pinna_close_from(&actions, STDERR_FILENO + 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] } ?? []
    defer { for text in words + variables { free(text) } }
    var pid: pid_t = 0
    let fault =
      environment == nil
      ? posix_spawn(&pid, path, &actions, &attributes, &words, environ)
      : posix_spawn(&pid, path, &actions, &attributes, &words, &variables)
    guard fault == 0 else { throw NoProcess(path: path, fault: fault) }
    self.pid = pid
  }

  /// The file that a shell would run for `name`; nil if there is none in the PATH.
  package static func path(ofProgram name: String) -> String? {
    let folders = getenv("PATH").map { String(cString: $0) } ?? ""
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  package var isRunning: Bool { poll(WNOHANG) == nil }

  /// Asks the child to end (SIGTERM).
  package func terminate() { send(SIGTERM) }

  /// Ends the child (SIGKILL).
  package func kill() { send(SIGKILL) }

  private func send(_ signal: Int32) {
    // Once its exit was seen, another process may have its number.
    if isRunning { _ = Glibc.kill(pid, signal) }
  }

  /// Waits for the child's exit, without a timeout.
  @discardableResult package func waitUntilExit() -> End { poll(0)! }

  /// How the child has ended; nil while it runs.
  private func poll(_ options: Int32) -> End? {
    if end == nil { end = Self.wait(for: pid, options) }
    return end
  }

  private static func wait(for pid: pid_t, _ options: Int32) -> End? {
    var status: Int32 = 0
    var found: pid_t
    repeat { found = waitpid(pid, &status, options) } while found < 0 && errno == EINTR
    if found == 0 { return nil }
    // As WIFSIGNALED and WEXITSTATUS do. If the program has had its children reaped for it, nothing is known.
    let signal = status & 0x7f
    return found < 0 ? .exit(-1) : signal == 0 ? .exit(status >> 8 & 0xff) : .signal(signal)
  }

  /// A child that still runs goes on, and is reaped when it ends.
  deinit {
    guard isRunning else { return }
    // A child that hangs in the kernel does not end when it is killed: nobody waits for it here.
    try? BackgroundThread.start("pinna reap") { [pid] in _ = Self.wait(for: pid, 0) }
  }
}

/// The system could not start a program.
package struct NoProcess: Error, CustomStringConvertible {
  package let path: String
  /// An `errno` value.
  package let fault: Int32

  package var description: String { "\(path) cannot be started: \(String(cString: strerror(fault)))" }
}

/// A pipe that children do not inherit. Its ends are closed by `close`, or with it.
package final class PipeEnds {
  package let reading: Int32
  package let writing: Int32
  private var isWritingOpen = true

  /// - Returns: nil if the process has too many descriptors.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard pinna_pipe(&ends) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
  }

  /// Closes the writing end: the reader sees the end when the child, too, has closed it.
  package func closeWriting() {
    if isWritingOpen { close(writing) }
    isWritingOpen = false
  }

  deinit {
    closeWriting()
    close(reading)
  }
}
