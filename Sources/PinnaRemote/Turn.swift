import Synchronization
import Threads

/// A fair mutex with a timeout: threads enter one at a time, in the order of their calls.
package final class Turn: Sendable {
  private struct Queue {
    var isOccupied = false
    var waiting: [Latch] = []
  }
  private let queue = Mutex(Queue())

  package init() {}

  /// Number of waiting threads.
  package var waiting: Int { queue.withLock { $0.waiting.count } }

  /// Waits up to `seconds` to enter.
  /// - Returns: false after a timeout. Otherwise the caller must call `leave`.
  package func enter(seconds: Double) -> Bool {
    let latch: Latch? = queue.withLock { queue in
      guard queue.isOccupied else {
        queue.isOccupied = true
        return nil
      }
      let latch = Latch()
      queue.waiting.append(latch)
      return latch
    }
    guard let latch else { return true }
    if latch.wait(for: .seconds(seconds)) { return true }
    return queue.withLock { queue in
      // `leave` may have opened the latch after the timeout.
      guard let n = queue.waiting.firstIndex(where: { $0 === latch }) else { return true }
      queue.waiting.remove(at: n)
      return false
    }
  }

  /// Lets the thread enter that has waited longest.
  package func leave() {
    queue.withLock { queue in
      if queue.waiting.isEmpty {
        queue.isOccupied = false
      } else {
        queue.waiting.removeFirst().open()
      }
    }
  }
}
