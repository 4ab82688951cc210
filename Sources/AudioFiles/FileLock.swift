import Glibc

/// An advisory lock (`flock`) that marks a file as being written, or a folder as one whose takes are edited. The kernel releases it however the writer ends.
package enum FileLock: Equatable {
  /// This program holds the lock until it closes the descriptor.
  case acquired
  /// Another program is writing the file.
  case held
  /// The file system does not support locks, so nobody can tell whether the file is being written.
  case unavailable(reason: String)

  /// Acquires the lock, for a writer.
  /// - Parameter timeout: how long to wait for a program that only probes, such as `pinna takes list`.
  package static func acquire(_ descriptor: Int32, timeout: Duration = .zero) -> FileLock {
    let end = ContinuousClock.now + timeout
    while true {
      let outcome = FileLock(flock(descriptor, LOCK_EX | LOCK_NB))
      guard outcome == .held, .now < end else { return outcome }
      usleep(5000)
    }
  }

  /// Checks the lock without keeping it. `acquired` means that nobody is writing.
  package static func probe(_ descriptor: Int32) -> FileLock {
    let outcome = FileLock(flock(descriptor, LOCK_SH | LOCK_NB))
    if outcome == .acquired { flock(descriptor, LOCK_UN) }
    return outcome
  }

  private init(_ result: Int32) {
    let reason = errno
    self =
      result == 0
      ? .acquired : reason == EWOULDBLOCK ? .held : .unavailable(reason: String(cString: strerror(reason)))
  }

  /// Why the lock was not acquired; nil if it was.
  package var fault: String? {
    switch self {
    case .acquired: nil
    case .held: "another program holds its lock"
    case .unavailable(let reason): reason
    }
  }
}
