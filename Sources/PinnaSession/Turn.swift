import Foundation
import Synchronization

/// Lets one thread in at a time, in the order in which they came; nobody waits without end.
package final class Turn: Sendable {
  private struct Queue {
    var isTaken = false
    var waiting: [(number: Int, wake: DispatchSemaphore)] = []
    var last = 0
  }
  private let queue = Mutex(Queue())

  package init() {}

  /// How many wait.
  package var waiting: Int { queue.withLock { $0.waiting.count } }

  /// Waits for its turn up to `seconds`.
  /// - Returns: false where it did not come. Otherwise `leave` must follow.
  package func enter(seconds: Double) -> Bool {
    let mine: (number: Int, wake: DispatchSemaphore)? = queue.withLock { queue in
      guard queue.isTaken else {
        queue.isTaken = true
        return nil
      }
      queue.last += 1
      let entry = (queue.last, DispatchSemaphore(value: 0))
      queue.waiting.append(entry)
      return entry
    }
    guard let mine else { return true }
    if mine.wake.wait(timeout: .now() + seconds) == .success { return true }
    return queue.withLock { queue in
      // Its turn may have come since.
      guard let n = queue.waiting.firstIndex(where: { $0.number == mine.number }) else { return true }
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
        queue.waiting.removeFirst().wake.signal()
      }
    }
  }
}
