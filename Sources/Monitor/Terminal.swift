import CNcurses
import Glibc
import Messages
import Settings

/// The terminal: its modes, its size, and bytes to it, none of which ever waits for a terminal that does not read.
///
/// Thread: the loop's.
final class Terminal {
  private var modes = termios()
  private let output: Int32
  /// The flags of standard output before it was made non-blocking; nil if `output` is a descriptor of its own.
  private var sharedFlags: Int32?
  private var backlog: ArraySlice<UInt8> = []

  /// A terminal that keeps more than this gets no new frame, in bytes.
  private static let longestBacklog: Int32 = 2048

  /// - Throws: if standard input or output is no terminal.
  init() throws(Failure) {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
      throw Failure(
        .usage,
        "pinna monitor needs a terminal for its input and output; for scripts there is: pinna status --json")
    }
    tcgetattr(STDIN_FILENO, &modes)
    // A description of our own: the shell shares that of standard output, and must not find it non-blocking.
    let own = open("/proc/self/fd/\(STDOUT_FILENO)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    output = own >= 0 ? own : STDOUT_FILENO
    if own < 0 { sharedFlags = fcntl(STDOUT_FILENO, F_GETFL) }
  }

  /// Keys arrive at once and unseen, and bytes leave as they are.
  func enter() {
    CrashGuard.arm(modes, output: output)
    var raw = modes
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    // Ctrl-S must not freeze the view.
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
    raw.c_oflag &= ~tcflag_t(OPOST)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    if let sharedFlags { _ = fcntl(STDOUT_FILENO, F_SETFL, sharedFlags | O_NONBLOCK) }
  }

  /// Sends `farewell` and restores everything, within a third of a second. To a terminal that does not read, what waits
  /// is dropped.
  func leave(_ farewell: [UInt8]) {
    backlog += farewell
    if !send(within: .milliseconds(200)) {
      tcflush(output, TCOFLUSH)
      // CAN ends a sequence of which the terminal has the beginning.
      backlog = [0x18] + farewell
      _ = send(within: .milliseconds(100))
    }
    backlog = []
    if let sharedFlags { _ = fcntl(STDOUT_FILENO, F_SETFL, sharedFlags) }
    tcsetattr(STDIN_FILENO, TCSANOW, &modes)
    CrashGuard.disarm()
  }

  /// In cells; at most what a view fills.
  var size: (width: Int, height: Int) {
    var size = winsize()
    let largest = MonitorView.largest
    guard pinna_terminal_size(output, &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (min(Int(size.ws_col), largest.width), min(Int(size.ws_row), largest.height))
  }

  /// What `poll` is to wait for on the output; nil if nothing waits.
  var request: pollfd? { backlog.isEmpty ? nil : pollfd(fd: output, events: Int16(POLLOUT), revents: 0) }

  /// Whether the terminal has taken everything: only then it gets another frame.
  var isReady: Bool {
    guard backlog.isEmpty, pinna_terminal_backlog(output) <= Self.longestBacklog else { return false }
    var request = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, 0) == 1
  }

  /// Writes as much as the terminal takes now.
  func send(_ bytes: [UInt8] = []) {
    backlog += bytes
    while !backlog.isEmpty {
      let count = backlog.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        return
      }
      backlog = backlog.dropFirst(count)
    }
  }

  private func send(within time: Duration) -> Bool {
    let deadline = ContinuousClock.now + time
    while true {
      send()
      guard !backlog.isEmpty else { return true }
      guard .now < deadline else { return false }
      var request = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
      poll(&request, 1, 10)
      // A terminal that has gone is always ready, and takes nothing.
      if request.revents & Int16(POLLERR | POLLHUP) != 0 { return false }
    }
  }

  /// The bytes of keys that were pressed; nil if the terminal has gone. Call it when `poll` says that there are some.
  func input() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    if count > 0 { return Array(bytes[..<count]) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }
}
