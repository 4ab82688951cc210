import Foundation
import Synchronization

/// Standard output and standard error. While `pinna run` runs nobody waits for them: whoever started it may not read
/// them, and its control thread must go on.
enum Output {
  private static let isQueued = Atomic(false)
  private static let output = Console(descriptor: STDOUT_FILENO) { lost in
    "pinna: \(lost) lines are missing here: nobody read them, or they could not be written\n"
  }
  private static let error = Console(descriptor: STDERR_FILENO) { lost in
    "pinna: \(lost) warnings are missing here: nobody read them, or they could not be written\n"
  }
  private static let repeats = Mutex(RepeatLimit())

  /// Once, before anything else is opened: a descriptor that is closed would be given to the next file or socket, which
  /// then got our lines. A reader that has gone is an error of that write only, and no signal that ends the process.
  static func prepare() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)
    }
    // Not ignored, as programs that we start would inherit that.
    signal(SIGPIPE) { _ in }
    // A terminal with `stty tostop` would stop a run in the background at its first line, and its sound with it. With a
    // handler the write would be tried again for ever.
    signal(SIGTTOU, SIG_IGN)
  }

  /// From now on lines are queued.
  static func queue() { isQueued.store(true, ordering: .releasing) }

  /// What is queued has so long to be written.
  static func finish(within patience: Duration) {
    guard isQueued.load(ordering: .acquiring) else { return }
    let deadline = ContinuousClock.now + patience
    for sentence in repeats.withLock({ $0.rest() }) { error.put("pinna: \(sentence)\n") }
    output.flush(until: deadline)
    error.flush(until: deadline)
  }

  static func say(_ line: String) {
    guard isQueued.load(ordering: .acquiring) else {
      print(line)
      fflush(nil)
      return
    }
    output.put(line + "\n")
  }

  static func complain(_ sentence: String) {
    guard isQueued.load(ordering: .acquiring) else { return show("pinna: \(sentence)\n") }
    let lines = repeats.withLock { $0.admit(sentence, at: .now) }
    for line in lines { error.put("pinna: \(line)\n") }
  }

  /// To standard error, as it is.
  static func show(_ text: String) {
    guard isQueued.load(ordering: .acquiring) else {
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      return
    }
    error.put(text)
  }
}
