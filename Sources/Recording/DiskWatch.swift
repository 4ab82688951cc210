import Glibc
import Synchronization

/// Measures how long a disk thread has been inside one disk operation. Only the disk thread writes the measurement; any
/// thread may read it without waiting.
final class DiskWatch: Sendable {
  /// Start of the present operation in nanoseconds on the monotonic clock; 0 while there is none.
  private let since = Atomic<Int>(0)

  private static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// Begins a disk operation; the previous one has ended.
  ///
  /// Thread: disk thread.
  func begin() { since.store(Self.now, ordering: .relaxed) }

  /// Ends the last disk operation.
  ///
  /// Thread: disk thread.
  func end() { since.store(0, ordering: .relaxed) }

  /// How long the present operation has taken; zero if there is none.
  ///
  /// Thread: any.
  var unansweredFor: Duration {
    let since = since.load(ordering: .relaxed)
    return since == 0 ? .zero : .nanoseconds(max(0, Self.now - since))
  }
}
