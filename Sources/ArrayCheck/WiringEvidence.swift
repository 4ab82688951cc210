/// What sound from several places says about polarity, order, delays and levels of the microphones that are alive.
/// Channels are counted among those judged.
struct WiringEvidence {
  let inputs: WiringInputs
  let polarity: PolarityEvidence
  /// Nil where too few sounds began.
  let order: OrderSearch?
  let late: [LateMicrophone]
  /// Why delays could not be judged; nil if they were.
  let lateObstacle: LateMicrophone.Obstacle?
  /// Nil where they could not be judged.
  let levels: LevelComparison?

  /// The device's microphone of each channel.
  var subset: [Int] { inputs.subset }

  init(_ inputs: WiringInputs) {
    self.inputs = inputs
    let vote = PolarityVote(inputs.spectra, manifold: inputs.manifold, order: inputs.powers.order)
    guard inputs.events.count >= Thresholds.fewestEvents else {
      (polarity, order, late, lateObstacle, levels) = (PolarityEvidence(vote), nil, [], nil, nil)
      return
    }
    let directions = Self.directions(inputs, vote)
    lateObstacle = Self.lateObstacle(inputs, directions: directions)
    let oriented = Orientation(inputs, vote)
    let arranged = Arrangement(inputs, oriented, directions: lateObstacle == nil ? directions : nil)
    (order, late) = (arranged.order, arranged.late)
    polarity = PolarityEvidence(oriented.vote, arranged.powers)
    levels = Self.levels(inputs, arranged.powers, directions: directions)
  }

  /// Number of directions that at least some of the events came from.
  private static func directions(_ inputs: WiringInputs, _ vote: PolarityVote) -> Int {
    let table = inputs.table
    let all = inputs.powers.inverting(vote.certain ?? []).sources.map {
      table.directions[$0 % table.directions.count]
    }
    var (left, count) = (all, 0)
    while true {
      let near = left.map { a in left.filter { a.dot($0) > Thresholds.sameDirection } }
      guard let most = near.max(by: { $0.count < $1.count }),
        Double(most.count) >= Thresholds.directionShare * Double(all.count)
      else { return count }
      count += 1
      left.removeAll { most.contains($0) }
    }
  }

  private static func lateObstacle(_ inputs: WiringInputs, directions: Int) -> LateMicrophone.Obstacle? {
    let size = inputs.table.microphones
    if !inputs.events.areOnsets { return .noOnsets }
    if size - 1 > inputs.table.rank { return nil }
    return size < 4 ? .tooFewMicrophones : directions < 3 ? .tooFewSides : nil
  }

  private static func levels(_ inputs: WiringInputs, _ powers: SteeredPowers, directions: Int)
    -> LevelComparison?
  {
    let levels = LevelComparison(inputs.events, table: inputs.table, powers: powers)
    let isKnown =
      !inputs.table.isDirectional || levels.explained < Thresholds.mostExplained && directions >= 2
    return isKnown ? levels : nil
  }
}

/// Polarities and an order that fit each other: each is judged with the other known.
private struct Orientation {
  let vote: PolarityVote
  /// With what the vote is certain of undone, in the order given.
  let powers: SteeredPowers
  let order: OrderSearch
  let coherence: CoherenceOrder

  init(_ inputs: WiringInputs, _ vote: PolarityVote) {
    self.init(inputs, vote, CoherenceOrder(inputs.spectra, manifold: inputs.manifold))
    guard !order.isGiven else { return }
    let second = PolarityVote(inputs.spectra, manifold: inputs.manifold, order: order.found.order)
    guard let certain = second.certain, certain != vote.certain ?? [] else { return }
    let other = Orientation(inputs, second, coherence)
    if other.order.found.scores.mean > order.found.scores.mean { self = other }
  }

  /// The order with one vote.
  private init(_ inputs: WiringInputs, _ vote: PolarityVote, _ coherence: CoherenceOrder) {
    (self.vote, self.coherence) = (vote, coherence)
    powers = inputs.powers.inverting(vote.certain ?? [])
    order = OrderSearch(powers, inputs, coherence: coherence)
  }
}

/// Late microphones, one after another, and the order without their delays.
private struct Arrangement {
  let order: OrderSearch
  let late: [LateMicrophone]
  /// The events in that order, with the delays undone.
  let powers: SteeredPowers

  /// - Parameter directions: number of distinct directions that sound came from; nil if delays cannot be judged.
  init(_ inputs: WiringInputs, _ oriented: Orientation, directions: Int?) {
    var order = oriented.order
    var late: [LateMicrophone] = []
    // Without the late microphone, the order may be another: what explains more goes first.
    if let directions, !order.isGiven, !order.isByCoherence,
      let first = LateMicrophone(in: oriented.powers, directions: directions),
      first.candidates[0].comparison.gain > order.comparison.gain
    {
      order = OrderSearch(first.corrected(oriented.powers), inputs, coherence: oriented.coherence)
      late = [first]
    }
    var powers = order.found
    while let directions, late.count < Thresholds.mostLate,
      let next = LateMicrophone(in: powers, directions: directions)
    {
      late.append(next)
      powers = next.corrected(powers)
    }
    (self.order, self.late, self.powers) = (order, late, powers)
  }
}
