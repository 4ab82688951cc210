/// Detects that no periods reach Pinna although the server has not shut down.
package struct Watchdog {
  package enum Finding: Equatable {
    case stalled
    /// Periods run again, after a stall of this length.
    case resumed(Duration)
  }

  /// A graph without a period for this long is stalled.
  package static let patience = Duration.seconds(1)
  /// A longer gap between observations means that this process itself was suspended; it does not count as a stall.
  private static let maxObservationGap = Processor.restInterval * 2

  package private(set) var isStalled = false
  private var periods = 0
  /// When the period count was last seen to advance.
  private var lastProgress: ContinuousClock.Instant?
  private var lastObservation: ContinuousClock.Instant?

  /// Whether a stall may have begun, or one is going on.
  private(set) var isDeciding = false

  package init() {}

  /// - Parameter count: periods that have run so far.
  /// - Returns: a stall or its end, if this observation reveals one.
  package mutating func observe(periods count: Int, now: ContinuousClock.Instant) -> Finding? {
    defer {
      isDeciding = isStalled || lastProgress != now
      lastObservation = now
    }
    guard let lastProgress, let lastObservation, now - lastObservation < Self.maxObservationGap else {
      // The first observation, or the first after a suspension.
      if count != periods || self.lastProgress == nil || !isStalled { self.lastProgress = now }
      return update(count, now)
    }
    if let finding = update(count, now) { return finding }
    guard !isStalled, now - lastProgress >= Self.patience else { return nil }
    isStalled = true
    return .stalled
  }

  private mutating func update(_ count: Int, _ now: ContinuousClock.Instant) -> Finding? {
    guard count != periods else { return nil }
    let stallDuration = lastProgress.map { now - $0 } ?? .zero
    periods = count
    lastProgress = now
    defer { isStalled = false }
    return isStalled ? .resumed(stallDuration) : nil
  }
}
