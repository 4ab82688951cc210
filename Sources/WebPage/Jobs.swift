import Threads

/// Work that waits for Pinna or the disk, each on a thread of its own, so that the server's thread never waits.
///
/// Thread: any.
final class Jobs: Sendable {
  private static let most = 16
  private let count = Locked(0)

  /// - Returns: false if there are too many already, or no thread can be had.
  func start(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isFree = count.withLock { count in
      if count < Self.most { count += 1 } else { return false }
      return true
    }
    guard isFree else { return false }
    do {
      try BackgroundThread.start("pinna web job") { [count] in
        work()
        count.withLock { $0 -= 1 }
      }
      return true
    } catch {
      count.withLock { $0 -= 1 }
      return false
    }
  }
}
