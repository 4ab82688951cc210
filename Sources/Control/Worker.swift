import Foundation
import Synchronization
import Threads

/// A thread that does one thing after another, in the order asked for, and may hang in any of them.
///
/// Threads: `run` may be called from any thread, and never waits.
package final class Worker: Sendable {
  private let state: State

  /// What the thread keeps; it must not keep the worker alive.
  private final class State: Sendable {
    let queue = Locked<[@Sendable () -> Void]>([])
    let waiting = DispatchSemaphore(value: 0)
    let ended = Atomic<Bool>(false)

    /// The worker's thread.
    func work() {
      while true {
        waiting.wait()
        let next = queue.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let next else {
          if ended.load(ordering: .acquiring) { return }
          continue
        }
        next()
      }
    }
  }

  package init(_ name: String) throws(NoThread) {
    let state = State()
    self.state = state
    try BackgroundThread.start(name) { state.work() }
  }

  /// What was asked for is still done; then the thread ends.
  deinit {
    state.ended.store(true, ordering: .releasing)
    state.waiting.signal()
  }

  package func run(_ body: @escaping @Sendable () -> Void) { add { $0.append(body) } }

  /// Before everything that waits already: what takes something back that was just done.
  package func runNext(_ body: @escaping @Sendable () -> Void) { add { $0.insert(body, at: 0) } }

  private func add(_ insert: (inout [@Sendable () -> Void]) -> Void) {
    state.queue.withLock { insert(&$0) }
    state.waiting.signal()
  }

  /// The same, with a result to poll.
  package func job<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Job<Value> {
    let job = Job<Value>()
    run { job.run(body) }
    return job
  }
}
