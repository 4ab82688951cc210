import Messages
import Settings

/// The attempts to join a JACK graph: for the first time, after the server has gone, or at another sample rate.
package struct Reconnection {

  /// Why the previous server went, as libjack reported it, or why Pinna left its graph; nil before the first graph, and if
  /// only the sample rate is another.
  private(set) var reason: String?
  /// Whether Pinna left a server that is running. False again when that server cannot be joined.
  private(set) var isRejoining: Bool
  private let since: ContinuousClock.Instant
  private(set) var nextTry: ContinuousClock.Instant
  /// The server's sample rate that filters are prepared for, in hertz; nil before a client is open.
  var sampleRate: Int?
  /// Why the current server cannot be used, or the previous client not be closed.
  var obstacle: String?
  /// Why the latest attempt failed.
  var lastFailure: Failure?

  init(reason: String?, isRejoining: Bool = false, now: ContinuousClock.Instant) {
    self.reason = reason
    self.isRejoining = isRejoining
    since = now
    nextTry = now
  }

  /// The reason to give when a request is refused in `state`.
  func sentence(_ state: ProcessorState) -> String {
    switch state.kind {
    case .joining: "filters for the JACK server's sample rate are being prepared; try again in a moment"
    case .preparing: "ports are being registered with the JACK server; try again in a moment"
    case .unusable:
      (reason == nil
        ? "Pinna cannot use the JACK server: " : "the JACK server is back, but Pinna cannot use it: ")
        + (obstacle ?? "")
    case .stranded:
      "Pinna cannot leave the JACK server\(isRejoining ? "" : " that has gone"), and so cannot reconnect "
        + "(\(obstacle ?? "")); start Pinna again"
    default:
      if isRejoining {
        "Pinna is joining the JACK server's graph again; try again in a moment"
      } else if let reason {
        "the JACK server has gone (\(reason)); start it again and Pinna reconnects, or end Pinna with: pinna stop"
      } else {
        "no JACK server is running; start one"
      }
    }
  }

  /// Notes that there is no server any more. If Pinna was rejoining one, this one has ended meanwhile.
  mutating func serverIsAbsent() {
    guard isRejoining else { return }
    isRejoining = false
    reason = "it ended while Pinna was joining its graph again"
  }

  /// Schedules the next attempt: after 50 ms for the first 30 s, because a restarting server returns soon; later after
  /// 250 ms.
  mutating func waitForNextTry(now: ContinuousClock.Instant) {
    nextTry = now + (now - since < .seconds(30) ? .milliseconds(50) : .milliseconds(250))
  }
}
