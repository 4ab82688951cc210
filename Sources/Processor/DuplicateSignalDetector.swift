import Realtime

/// Finds pairs of microphones that carry the same signal from different sources, as when a sound card or a mixer
/// duplicates a channel.
///
/// Symmetrically placed microphones also receive the same signal from a talker straight ahead. So the levels of a pair
/// must be bit-identical for a minute in which both are above −120 dBFS.
struct DuplicateSignalDetector {
  static let patience = Duration.seconds(60)

  private struct Pair: Hashable {
    let first: String
    let second: String
  }

  private struct Match {
    /// How long both have carried the same signal.
    var duration = Duration.zero
    /// Whether the levels differed in the latest observation. One mismatch is tolerated: the levels of two channels are
    /// not read at the same instant.
    var hadMismatch = false
  }

  private var matches: [Pair: Match] = [:]
  private var lastObservation: ContinuousClock.Instant?

  /// - Parameter levels: levels of `names`, in the same order; more may follow.
  /// - Returns: pairs that have matched for `patience`.
  mutating func observe(_ names: [String], _ levels: [Level], now: ContinuousClock.Instant) -> [(
    first: String, second: String
  )] {
    // A longer gap between observations counts as 2 s.
    let elapsed = min(now - (lastObservation ?? now), .seconds(2))
    lastObservation = now
    var found: [(String, String)] = []
    var next: [Pair: Match] = [:]
    for (a, b) in names.indices.flatMap({ a in names.indices.dropFirst(a + 1).map { (a, $0) } }) {
      let pair = Pair(first: names[a], second: names[b])
      let isEqual = levels[a] == levels[b]
      let hasSignal = levels[a].rms > 1e-6
      guard isEqual && hasSignal || matches[pair] != nil else { continue }
      var match = matches[pair] ?? Match()
      if !isEqual, match.hadMismatch { continue }
      match.hadMismatch = !isEqual
      if isEqual, hasSignal { match.duration += elapsed }
      if match.duration >= Self.patience { found.append((pair.first, pair.second)) }
      next[pair] = match
    }
    matches = next
    return found
  }
}
