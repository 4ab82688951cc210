/// Notices a graph that runs no periods and says nothing of it.
package struct Watchdog {
  package enum Finding: Equatable {
    case stalled
    /// Periods run again, after so long.
    case resumed(Duration)
  }

  /// Without a period for so long, the graph is stalled.
  package static let patience = Duration.seconds(1)
  /// Whoever looks less often than this stood still itself, and knows nothing of the graph meanwhile.
  private static let longestLook = Duration.milliseconds(500)

  package private(set) var isStalled = false
  private var periods = 0
  /// When the last period was seen to have run.
  private var since: ContinuousClock.Instant?
  private var looked: ContinuousClock.Instant?

  package init() {}

  /// - Parameter count: periods that have run so far.
  package mutating func observe(periods count: Int, now: ContinuousClock.Instant) -> Finding? {
    defer { looked = now }
    guard let since, let looked, now - looked < Self.longestLook else {
      // The first look, or one after we stood still.
      if count != periods || self.since == nil || !isStalled { self.since = now }
      return ran(count, now)
    }
    if let finding = ran(count, now) { return finding }
    guard !isStalled, now - since >= Self.patience else { return nil }
    isStalled = true
    return .stalled
  }

  private mutating func ran(_ count: Int, _ now: ContinuousClock.Instant) -> Finding? {
    guard count != periods else { return nil }
    let stood = since.map { now - $0 } ?? .zero
    periods = count
    since = now
    defer { isStalled = false }
    return isStalled ? .resumed(stood) : nil
  }
}
