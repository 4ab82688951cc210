/// How long a computation will still take, if it goes on as fast as so far.
package struct TimeLeft {
  /// Before this nothing is estimated, and short computations say nothing.
  private static let shortest = Duration.seconds(2)

  package init() {}

  private var start: (instant: ContinuousClock.Instant, fraction: Double)?

  /// Nothing yet, or "about 40 s left".
  /// - Parameter fraction: that is done, 0…1. The first one may be above 0.
  package mutating func text(at fraction: Double, now: ContinuousClock.Instant = .now) -> String {
    guard let start else {
      start = (now, fraction)
      return ""
    }
    let elapsed = now - start.instant
    guard elapsed >= Self.shortest, fraction > start.fraction, fraction < 1 else { return "" }
    return Self.text(seconds: elapsed / .seconds(1) * (1 - fraction) / (fraction - start.fraction))
  }

  /// Such as "about 7 s left", "about 40 s left" or "about 3 min left".
  package static func text(seconds: Double) -> String {
    switch seconds {
    case ..<10: "about \(max(1, Int(seconds.rounded(.up)))) s left"
    case ..<90: "about \(Int((seconds / 5).rounded(.up)) * 5) s left"
    default: "about \(Int((min(seconds, 1e6) / 60).rounded(.up))) min left"
    }
  }
}
