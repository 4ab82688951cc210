import Threads

/// Asks a disk that may hang: a thread does the asking, and is waited for 50 ms. Nothing else is asked until the disk has
/// answered.
///
/// Threads: the control thread.
final class DiskThread {
  enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    /// The disk has been asked, and has not answered in time.
    case late
    /// The disk has not been asked: it has not answered what it was asked before.
    case busy
  }

  static let patience = Duration.milliseconds(50)

  private let name: String
  /// Nil until something is asked.
  private var worker: Worker?
  /// Opened when the thread came back from what it did last.
  private var returned: Latch?

  init(_ name: String) { self.name = name }

  func ask<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws(NoThread) -> Outcome<Value> {
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
