import Glibc

/// Who writes a file: its writer holds the lock, and the kernel lets go of it however the writer ends.
package enum FileLock: Equatable {
  /// It is ours until the descriptor is closed.
  case taken
  /// Somebody else writes the file.
  case held
  /// The file system has no locks: nothing says whether somebody writes.
  case unavailable(reason: String)

  /// For whoever writes.
  /// - Parameter patience: how long somebody who only looks, as `pinna takes list` does, is waited for.
  package static func take(_ descriptor: Int32, patience: Duration = .zero) -> FileLock {
    let end = ContinuousClock.now + patience
    while true {
      let outcome = FileLock(flock(descriptor, LOCK_EX | LOCK_NB))
      guard outcome == .held, .now < end else { return outcome }
      usleep(5000)
    }
  }

  /// For whoever only wants to know; `taken` where nobody writes.
  package static func look(_ descriptor: Int32) -> FileLock {
    let outcome = FileLock(flock(descriptor, LOCK_SH | LOCK_NB))
    if outcome == .taken { flock(descriptor, LOCK_UN) }
    return outcome
  }

  private init(_ result: Int32) {
    let reason = errno
    self =
      result == 0
      ? .taken : reason == EWOULDBLOCK ? .held : .unavailable(reason: String(cString: strerror(reason)))
  }

  /// Why there is no lock; nil where there is.
  package var fault: String? {
    switch self {
    case .taken: nil
    case .held: "another program holds its lock"
    case .unavailable(let reason): reason
    }
  }
}
