import Glibc
import Synchronization

/// How long a disk thread has been inside one operation. The thread writes, anyone reads; nobody waits.
final class DiskWatch: Sendable {
  /// Nanoseconds on the monotonic clock; 0 while nothing is asked of the disk.
  private let since = Atomic<Int>(0)

  private static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// The disk is asked for something; what was asked for before it has done.
  func ask() { since.store(Self.now, ordering: .relaxed) }

  /// The disk has done everything that was asked for.
  func rest() { since.store(0, ordering: .relaxed) }

  var unansweredFor: Duration {
    let since = since.load(ordering: .relaxed)
    return since == 0 ? .zero : .nanoseconds(max(0, Self.now - since))
  }
}
