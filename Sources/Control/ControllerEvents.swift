import Synchronization

/// What other threads tell the control thread: a signal asked for something, or the server has gone.
public final class ControllerEvents: Sendable {
  private let stop = Atomic<Bool>(false)
  private let reload = Atomic<Bool>(false)
  private let status = Atomic<Bool>(false)
  private let reason = Mutex<String?>(nil)

  public init() {}

  /// Any thread but the callback's.
  public func requestStop() { stop.store(true, ordering: .releasing) }
  public func requestReload() { reload.store(true, ordering: .releasing) }
  public func requestStatus() { status.store(true, ordering: .releasing) }
  public func serverGone(_ why: String) { reason.withLock { $0 = $0 ?? why } }

  public var stopRequested: Bool { stop.load(ordering: .acquiring) }
  /// True once per request.
  func takeReload() -> Bool { reload.exchange(false, ordering: .acquiringAndReleasing) }
  func takeStatus() -> Bool { status.exchange(false, ordering: .acquiringAndReleasing) }
  var shutdownReason: String? { reason.withLock { $0 } }
}
