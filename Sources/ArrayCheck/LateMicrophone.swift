/// A microphone whose sound comes late or early by a constant time, against the others and the geometry.
struct LateMicrophone {
  struct Candidate {
    let channel: Int
    /// In seconds; negative if early.
    let delay: Double
    let comparison: Comparison
  }

  /// Why delays cannot be judged.
  enum Obstacle { case noOnsets, tooFewMicrophones, tooFewSides }

  /// The channels that explain the events nearly as well with a delay, the best first: it is known of one of them.
  let candidates: [Candidate]

  /// - Parameter directions: number of distinct directions that sound came from.
  /// - Returns: nil if no microphone is late.
  init?(in powers: SteeredPowers, directions: Int) {
    let found = powers.order.indices.compactMap { Self.candidate($0, powers) }
      .sorted { $0.comparison.gain > $1.comparison.gain }
    guard let best = found.first,
      abs(best.delay) >= (directions > 1 ? Thresholds.leastDelay : Thresholds.leastDelayOneSided),
      best.comparison.gain
        > (powers.scores.mean > Thresholds.directFit
          ? Thresholds.delayGain : Thresholds.delayGainWithoutDirections),
      best.comparison.certainty > Thresholds.leastCertainty
    else { return nil }
    candidates = found.filter { $0.comparison.gain > Thresholds.likeDelayGain * best.comparison.gain }
  }

  /// The same events with the best candidate's delay undone.
  func corrected(_ powers: SteeredPowers) -> SteeredPowers {
    powers.changed(channel: candidates[0].channel, advance: candidates[0].delay)
  }

  /// The delay that explains the events best, if any does better than none.
  private static func candidate(_ channel: Int, _ powers: SteeredPowers) -> Candidate? {
    // Coarse steps are less than a quarter of a period at the top of the events' band, so that no peak lies between.
    let (reach, coarse, fine) = (6, 55e-6, 9e-6)
    let rough = best((-reach...reach).map { Double($0) * coarse }.filter { $0 != 0 }, channel, powers)
    guard rough.scores.mean > powers.scores.mean * 0.99 else { return nil }
    let near = [0, -3, -2, -1, 1, 2, 3].map { rough.delay + $0 * fine }
    let found = best(near, channel, powers)
    let comparison = Comparison(powers.scores, found.scores)
    return comparison.gain > 0
      ? Candidate(channel: channel, delay: found.delay, comparison: comparison) : nil
  }

  private static func best(_ delays: [Double], _ channel: Int, _ powers: SteeredPowers)
    -> (delay: Double, scores: [Float])
  {
    delays.map { ($0, powers.scores(channel: channel, advance: $0)) }.max { $0.1.mean < $1.1.mean }!
  }
}
