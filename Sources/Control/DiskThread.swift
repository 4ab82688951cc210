import Processor
import Threads

/// Runs file operations that may hang on a thread of its own, and waits 50 ms for each. Starts no further operation
/// until the previous one has returned.
///
/// Thread: control thread. The operations run on the disk thread.
final class DiskThread {
  enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    /// The operation has not returned in time; it is still running.
    case late
    /// The operation was not started, because the previous one has not returned.
    case busy
  }

  static let patience = Duration.milliseconds(50)

  private let name: String
  /// Nil until the first operation.
  private var worker: Worker?
  /// Opened when the latest operation has returned.
  private var returned: Latch?

  init(_ name: String) { self.name = name }

  /// - Throws: if no thread can be started.
  func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws(NoThread) -> Outcome<Value> {
    if let returned, !returned.isOpen { return .busy }
    let worker = if let worker { worker } else { try Worker(name) }
    self.worker = worker
    let result = Locked<Value?>(nil)
    let returned = Latch()
    self.returned = returned
    worker.run {
      let value = body()
      result.withLock { $0 = value }
      returned.open()
    }
    guard returned.wait(for: Self.patience), let value = result.withLock({ $0 }) else { return .late }
    return .done(value)
  }
}
