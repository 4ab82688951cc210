import Synchronization
import Threads

/// Lets one thread in at a time, in the order in which they came; nobody waits without end.
package final class Turn: Sendable {
  private struct Queue {
    var isTaken = false
    var waiting: [Latch] = []
  }
  private let queue = Mutex(Queue())

  package init() {}

  /// How many wait.
  package var waiting: Int { queue.withLock { $0.waiting.count } }

  /// Waits for its turn up to `seconds`.
  /// - Returns: false where it did not come. Otherwise `leave` must follow.
  package func enter(seconds: Double) -> Bool {
    let mine: Latch? = queue.withLock { queue in
      guard queue.isTaken else {
        queue.isTaken = true
        return nil
      }
      let latch = Latch()
      queue.waiting.append(latch)
      return latch
    }
    guard let mine else { return true }
    if mine.wait(for: .seconds(seconds)) { return true }
    return queue.withLock { queue in
      // Its turn may have come since.
      guard let n = queue.waiting.firstIndex(where: { $0 === mine }) else { return true }
      queue.waiting.remove(at: n)
      return false
    }
  }

  /// Hands over to whoever has waited longest.
  package func leave() {
    queue.withLock { queue in
      if queue.waiting.isEmpty {
        queue.isTaken = false
      } else {
        queue.waiting.removeFirst().open()
      }
    }
  }
}
