import Realtime

/// Finds microphones that carry the same signal although they are not connected to the same source: a card that sends one
/// microphone on two channels, or a mixer that does.
///
/// A voice straight ahead is the same on microphones that stand symmetrically, too; only voices from elsewhere tell the two
/// apart. So a pair must be alike, to the bit of its levels, for a minute in which both sound.
struct AlikeMicrophones {
  static let patience = Duration.seconds(60)

  private struct Pair: Hashable {
    let first: String
    let second: String
  }

  private struct Likeness {
    /// How long the two have sounded alike.
    var heard = Duration.zero
    /// The last look found them unlike. Levels are not read at one instant, so that one such look says nothing.
    var wasUnlike = false
  }

  private var likenesses: [Pair: Likeness] = [:]
  private var lastLook: ContinuousClock.Instant?

  /// - Returns: pairs that have been alike for long enough.
  mutating func observe(_ names: [String], _ levels: [Level], now: ContinuousClock.Instant) -> [(
    first: String, second: String
  )] {
    // Time in which we did not look says nothing, either.
    let elapsed = min(now - (lastLook ?? now), .seconds(2))
    lastLook = now
    var found: [(String, String)] = []
    var next: [Pair: Likeness] = [:]
    for (a, b) in names.indices.flatMap({ a in names.indices.dropFirst(a + 1).map { (a, $0) } }) {
      let pair = Pair(first: names[a], second: names[b])
      let isAlike = levels[a] == levels[b]
      let sounds = levels[a].rms > 1e-6
      guard isAlike && sounds || likenesses[pair] != nil else { continue }
      var likeness = likenesses[pair] ?? Likeness()
      if !isAlike, likeness.wasUnlike { continue }
      likeness.wasUnlike = !isAlike
      if isAlike, sounds { likeness.heard += elapsed }
      if likeness.heard >= Self.patience { found.append((pair.first, pair.second)) }
      next[pair] = likeness
    }
    likenesses = next
    return found
  }
}
