/// A token bucket: so many requests per second, with a reserve for bursts. A value; one thread at a time.
package struct RateLimit: Sendable {
  private let perSecond: Double
  private let burst: Double
  private var allowance: Double
  private var last: ContinuousClock.Instant

  /// - Parameter burst: how many requests may come at once.
  package init(perSecond: Double, burst: Double, now: ContinuousClock.Instant = .now) {
    self.perSecond = perSecond
    self.burst = burst
    allowance = burst
    last = now
  }

  /// Counts a request.
  /// - Returns: whether it is within the limit.
  package mutating func allows(now: ContinuousClock.Instant = .now) -> Bool {
    allowance = min(burst, allowance + perSecond * max(0, (now - last) / .seconds(1)))
    last = now
    guard allowance >= 1 else { return false }
    allowance -= 1
    return true
  }
}
