import Synchronization

/// Cancels a design. Pass it to `FilterBank.ready` or `design`, and call `cancel` from any thread.
///
/// The design then throws `DesignError.cancelled` within about half a second.
public final class DesignCancellation: Sendable {
  private let flag = Atomic(false)

  public init() {}

  public var isCancelled: Bool { flag.load(ordering: .relaxed) }
  public func cancel() { flag.store(true, ordering: .relaxed) }
}

extension DesignError {
  /// Thrown by a cancelled design.
  public static let cancelled = DesignError("the design was cancelled; start it again if it is still wanted")
}
