/// Which channels are inverted, by the vote of neighbours and by the phases of events.
struct PolarityEvidence {
  let inverted: [Int]
  /// Whether it may as well be the others.
  let isTie: Bool
  /// Whether polarity could be judged.
  let isKnown: Bool
  /// Whether it could not because of the microphones' distances, whatever the sound.
  let isFarApart: Bool

  /// Phases up to 4 kHz have the last word, where there are enough microphones.
  /// - Parameter powers: with what the vote is certain of undone; nil for the vote alone.
  init(_ vote: PolarityVote, _ powers: SteeredPowers? = nil) {
    guard let powers, powers.order.count > 2 else {
      self.init(
        vote.isClear ? vote.inverted : [], isTie: vote.isTie, isKnown: vote.isClear,
        isFarApart: !vote.isClear && vote.isFarApart)
      return
    }
    let channels = powers.order.indices
    let opposed = channels.filter {
      let other = Comparison(powers.scores, powers.scores(channel: $0, advance: 0, inverts: true))
      return other.gain > Thresholds.signGain && other.certainty > Thresholds.leastCertainty
    }
    if let certain = vote.certain {
      self.init(certain.filter { !opposed.contains($0) }, isTie: false, isKnown: true)
    } else if opposed.count > max(1, channels.count / 2 - 1) {
      self.init([], isTie: false, isKnown: false)
    } else if vote.isClear {
      self.init(vote.inverted, isTie: true, isKnown: true)
    } else {
      self.init(opposed, isTie: false, isKnown: powers.scores.mean > Thresholds.directFit)
    }
  }

  private init(_ inverted: [Int], isTie: Bool, isKnown: Bool, isFarApart: Bool = false) {
    self.isFarApart = isFarApart
    (self.inverted, self.isTie, self.isKnown) = (inverted, isTie && !inverted.isEmpty, isKnown)
  }
}
