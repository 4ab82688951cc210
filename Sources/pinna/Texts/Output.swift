import FoundationEssentials
import Glibc
import Synchronization
import Text
import Threads

/// Standard output and standard error, and the one way to them: what others wrote, names and files, is printable
/// behind it. `pinna run` queues its lines, because the control thread must not wait for a reader that does not read.
enum Output {
  private static let isQueued = Atomic(false)
  private static let isDiverted = Atomic(false)
  private static let output = Console(descriptor: STDOUT_FILENO) { lost in
    "pinna: \(lost) lines are missing here: they were not read in time, or could not be written\n"
  }
  private static let error = Console(descriptor: STDERR_FILENO) { lost in
    "pinna: \(lost) warnings are missing here: they were not read in time, or could not be written\n"
  }
  private static let repeats = Mutex(RepeatLimit())
  /// `errno` of the first write to standard output that failed; 0 if none did.
  private static let lastFault = Atomic<Int32>(0)

  /// Why something is missing on standard output; nil if nothing is, and if its reader left, as `head` does. Lines
  /// that are queued do not count.
  static var fault: String? {
    let fault = lastFault.load(ordering: .acquiring)
    return [0, EPIPE].contains(fault) ? nil : String(cString: strerror(fault))
  }

  /// Whether the reader of standard output has left.
  static var isUnread: Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    return lastFault.load(ordering: .acquiring) != 0
      || poll(&output, 1, 0) > 0 && output.revents & Int16(POLLERR) != 0
  }

  /// Whether a terminal may be given colours.
  /// - Source: no-color.org: any value but the empty one turns colour off.
  static var allowsColour: Bool {
    let environment = ProcessInfo.processInfo.environment
    return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Makes writing to the standard streams safe. Call it once, before anything else is opened.
  ///
  /// Closed standard descriptors are opened on /dev/null. Otherwise the next file or socket would get their number, and
  /// our lines. A write to a closed pipe becomes an error instead of a signal that ends the process.
  static func prepare() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)
    }
    // An empty handler, because child processes would inherit SIG_IGN.
    signal(SIGPIPE) { _ in }
    // A terminal with `stty tostop` stops a background process at its first line, and would stop the sound. With a
    // handler the write would be retried forever, so the signal is ignored.
    signal(SIGTTOU, SIG_IGN)
  }

  /// Queues all lines from now on.
  static func queue() { isQueued.store(true, ordering: .releasing) }

  /// Waits until all queued lines are written, at most for `timeout`.
  static func finish(within timeout: Duration) {
    guard isQueued.load(ordering: .acquiring) else { return }
    let deadline = ContinuousClock.now + timeout
    for sentence in repeats.withLock({ $0.rest() }) { error.put("pinna: \(sentence)\n") }
    output.flush(until: deadline)
    error.flush(until: deadline)
  }

  /// Sends to standard error what was for standard output, which carries sound.
  static func divert() { isDiverted.store(true, ordering: .releasing) }

  /// Writes lines of text to standard output.
  static func say(_ text: String) { say(printable: text.printableLines) }

  /// Writes a JSON document to standard output.
  static func say(json: String) { say(printable: json.printableJSON) }

  /// Writes text to standard output that is printable but for its line breaks and the colours of this program.
  static func say(printable text: String) {
    if isDiverted.load(ordering: .acquiring) { return show(text + "\n") }
    guard isQueued.load(ordering: .acquiring) else {
      guard !Descriptor.writeAll((text + "\n").utf8, to: STDOUT_FILENO) else { return }
      _ = lastFault.compareExchange(expected: 0, desired: errno, ordering: .acquiringAndReleasing)
      return
    }
    output.put(text + "\n")
  }

  /// Writes a sentence to standard error, with the program's name in front.
  static func complain(_ text: String) {
    let sentence = text.sentence
    guard isQueued.load(ordering: .acquiring) else { return show("pinna: \(sentence)\n") }
    let lines = repeats.withLock { $0.admit(sentence, at: .now) }
    for line in lines { error.put("pinna: \(line)\n") }
  }

  /// Writes `text` to standard error unchanged. It is this program's own, or printable.
  static func show(_ text: String) {
    guard isQueued.load(ordering: .acquiring) else {
      Descriptor.writeAll(text.utf8, to: STDERR_FILENO)
      return
    }
    error.put(text)
  }
}
