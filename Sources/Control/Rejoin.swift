/// The way into a JACK graph, or back into one.
package struct Rejoin {
  /// How it stands with the server, as `status` says it.
  package enum State: String, Codable, Sendable {
    case running
    /// It runs no periods.
    case stalled
    /// There is no server.
    case gone
    /// It is there; filters for its sample rate are read or designed, or ports registered.
    case joining
    /// It is there, and cannot be used as it is.
    case unusable
  }

  /// Why the server went, in its own words; nil before the first.
  let reason: String?
  private let since: ContinuousClock.Instant
  private(set) var nextTry: ContinuousClock.Instant
  /// Why the server that is there cannot be used.
  var obstacle: String?
  /// What last stood in the way of an attempt, and of the first one.
  var complaint: Failure?

  init(reason: String?, now: ContinuousClock.Instant) {
    self.reason = reason
    since = now
    nextTry = now
  }

  /// Why a request is refused.
  func sentence(_ state: ProcessorState) -> String {
    switch state.kind {
    case .joining: "filters for the JACK server's sample rate are being made ready; try again in a moment"
    case .preparing: "ports are being registered at the JACK server; try again in a moment"
    case .unusable:
      (reason == nil
        ? "Pinna cannot use the JACK server: " : "the JACK server is back, but Pinna cannot use it: ")
        + (obstacle ?? "")
    case .stranded:
      "Pinna cannot leave the JACK server that has gone, and so cannot reconnect (\(obstacle ?? "")); start Pinna again"
    default:
      if let reason {
        "the JACK server has gone (\(reason)); start it again, and Pinna goes on, or end it with: pinna stop"
      } else {
        "no JACK server is running; start one"
      }
    }
  }

  /// Often at first, for a server that is just restarted; then a few times a second, for as long as it takes.
  mutating func waitForNextTry(now: ContinuousClock.Instant) {
    nextTry = now + (now - since < .seconds(30) ? .milliseconds(50) : .milliseconds(250))
  }
}
