import Synchronization

/// Queues work on a `Worker` such that only the newest request counts.
///
/// A request that arrives before the previous one has begun replaces it. Each run queues behind the worker's other
/// jobs. Many requests therefore delay a job by one run at most, and a run waits only for jobs that were queued before
/// it.
///
/// Thread: any. `post` never waits; its `body` runs on the worker.
package final class LatestRequest<Input: Sendable>: Sendable {
  private struct State {
    /// The request that has not begun; nil when there is none.
    var next: Input?
    var isQueued = false
    /// Requests that have begun.
    var begun = 0
  }
  private let state = Mutex(State())

  package init() {}

  /// - Parameter body: receives the newest input and its number; runs on the worker's thread.
  /// - Returns: the number under which this input, or a newer one, will run.
  package func post(_ input: Input, on worker: Worker, _ body: @escaping @Sendable (Input, Int) -> Void)
    -> Int
  {
    let (number, mustQueue) = state.withLock { state in
      state.next = input
      defer { state.isQueued = true }
      return (state.begun + 1, !state.isQueued)
    }
    if mustQueue { queue(on: worker, body) }
    return number
  }

  private func queue(on worker: Worker, _ body: @escaping @Sendable (Input, Int) -> Void) {
    worker.run { [self] in
      guard let (input, number) = begin() else { return }
      body(input, number)
      queue(on: worker, body)
    }
  }

  private func begin() -> (Input, Int)? {
    state.withLock { state in
      guard let input = state.next else {
        state.isQueued = false
        return nil
      }
      state.next = nil
      state.begun += 1
      return (input, state.begun)
    }
  }
}
