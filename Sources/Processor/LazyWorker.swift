import Messages

/// A `Worker` whose thread starts with the first job.
///
/// Thread: control thread.
package final class LazyWorker {
  private let name: String
  private var worker: Worker?

  package init(_ name: String) { self.name = name }

  /// Queues `body`. The job fails if no thread can be started.
  /// - Parameter onAbandon: as for `Worker.job`.
  package func job<Value: Sendable>(
    onAbandon: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (Job<Value>) throws -> Value
  ) -> Job<Value> {
    do {
      let worker = if let worker { worker } else { try Worker(name) }
      self.worker = worker
      return worker.job(onAbandon: onAbandon, body)
    } catch { return .failed(error) }
  }

  package func job<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Job<Value> {
    job(onAbandon: {}, { _ in try body() })
  }
}
