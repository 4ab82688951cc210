/// Finds out whether a stalled graph stalls for everybody, or only for Pinna's client: asks for a new client at growing
/// intervals as long as the stall lasts.
package struct StallProbe {
  private enum State {
    case idle
    case waiting(until: ContinuousClock.Instant)
    /// A new client is trying to get periods.
    case asking(Job<Bool>, deadline: ContinuousClock.Instant)
  }

  /// From the stall to the first question. Each later interval is twice as long, because joining again may not help for
  /// long, until `longestInterval`.
  package static let firstInterval = Duration.seconds(3)
  package static let longestInterval = Duration.seconds(60)
  /// Longer than the helper process lives (`ServerProbe`).
  package static let limit = Duration.seconds(8)

  private var state = State.idle
  private var interval = Self.firstInterval
  /// When the graph was last stalled.
  private var lastStall: ContinuousClock.Instant?

  package init() {}

  /// - Parameters:
  ///   - isStalled: whether the graph is stalled and Pinna may join it again.
  ///   - ask: asks whether a new client gets periods; nil where nothing can be learnt from one.
  /// - Returns: whether a new client gets periods. True once per question.
  package mutating func poll(isStalled: Bool, now: ContinuousClock.Instant, ask: () -> Job<Bool>?) -> Bool {
    guard isStalled else {
      if case .asking(let job, _) = state { job.abandon() }
      state = .idle
      if let lastStall, now - lastStall > Self.longestInterval { interval = Self.firstInterval }
      return false
    }
    lastStall = now
    switch state {
    case .idle: wait(now)
    case .waiting(let end):
      guard now >= end else { break }
      interval = min(interval * 2, Self.longestInterval)
      if let job = ask() { state = .asking(job, deadline: now + Self.limit) } else { wait(now) }
    case .asking(let job, let deadline):
      switch job.result {
      case .success(true):
        state = .idle
        return true
      case .success(false), .failure: wait(now)
      case nil where now > deadline:
        job.abandon()
        wait(now)
      case nil: break
      }
    }
    return false
  }

  private mutating func wait(_ now: ContinuousClock.Instant) { state = .waiting(until: now + interval) }
}
