import JackClient

/// The way back into a JACK graph whose server has gone.
package struct Rejoin {
  /// As `status` says it.
  package enum State: String, Codable {
    case running
    /// There is no server.
    case gone
    /// It is back; filters for its sample rate are being designed.
    case joining
    /// It is back, and cannot be used as it is.
    case unusable
  }

  /// Why the server went, in its own words.
  let reason: String
  private let since = ContinuousClock.now
  var nextTry = ContinuousClock.now
  /// In the new graph, and not yet active.
  var client: ArrayClient?
  var design: FilterDesignJob?
  /// Why the server that is back cannot be used.
  var obstacle: String?
  /// What last stood in the way of an attempt.
  var complaint: String?

  init(reason: String) { self.reason = reason }

  var state: State { obstacle != nil ? .unusable : client != nil ? .joining : .gone }

  /// What a request is refused with.
  var sentence: String {
    switch state {
    case .running, .gone:
      "the JACK server has gone (\(reason)); start it again, and Pinna goes on, or end it with: pinna stop"
    case .joining:
      "the JACK server is back at another sample rate, and filters for it are being designed; try again"
    case .unusable: "the JACK server is back, but Pinna cannot use it: \(obstacle ?? "")"
    }
  }

  /// Often at first, for a server that is just restarted; then a few times a second, for as long as it takes.
  mutating func waitForNextTry() {
    nextTry = .now + (.now - since < .seconds(30) ? .milliseconds(50) : .milliseconds(250))
  }
}
