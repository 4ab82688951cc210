import Dispatch
import Synchronization
import Threads

/// A serial queue with a thread of its own, for work that may block without limit.
///
/// Thread: any. No function waits for the work.
package final class Worker: Sendable {
  private let state: State

  /// The state that the thread retains. Separate, because the thread must not keep the worker alive.
  private final class State: Sendable {
    let queue = Locked<[@Sendable () -> Void]>([])
    let waiting = DispatchSemaphore(value: 0)
    let ended = Atomic<Bool>(false)

    /// Thread: the worker's own.
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

  /// Queued work still runs; then the thread ends.
  deinit {
    state.ended.store(true, ordering: .releasing)
    state.waiting.signal()
  }

  /// Appends `body` to the queue.
  package func run(_ body: @escaping @Sendable () -> Void) { add { $0.append(body) } }

  /// Inserts `body` at the head of the queue, for work that reverts what has just been done.
  package func runNext(_ body: @escaping @Sendable () -> Void) { add { $0.insert(body, at: 0) } }

  private func add(_ insert: (inout [@Sendable () -> Void]) -> Void) {
    state.queue.withLock { insert(&$0) }
    state.waiting.signal()
  }

  /// Appends `body` to the queue and returns a job for its result. One that was abandoned before its turn never begins.
  /// - Parameter onAbandon: tells the work to end early. Called on the thread that abandons.
  package func job<Value: Sendable>(
    onAbandon: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (Job<Value>) throws -> Value
  ) -> Job<Value> {
    let job = Job<Value>(onAbandon: onAbandon)
    run { job.run { try body(job) } }
    return job
  }

  package func job<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Job<Value> {
    job(onAbandon: {}, { _ in try body() })
  }
}
