import Acoustics

/// The order of the channels that the events fit best, among those that a plausible mistake makes.
struct OrderSearch {
  /// What the events say under the order found.
  let found: SteeredPowers
  /// Against the order as given.
  let comparison: Comparison
  /// The best order that is no image of the one found, and how it compares.
  let second: (order: [Int], comparison: Comparison)?
  /// Whether coherences decided, because events left a choice.
  let isByCoherence: Bool
  /// The order found and its mirror images and rotations, as far as they move no more channels.
  let alternatives: [[Int]]
  /// Pairs of channels that could be exchanged without a difference.
  let alike: [(Int, Int)]

  var isGiven: Bool { found.order == Array(found.order.indices) }

  init(_ given: SteeredPowers, _ inputs: WiringInputs, coherence: CoherenceOrder) {
    var tried = TriedOrders(given, isometries: inputs.isometries)
    tried.add(inputs.likelyOrders)
    let byEvents = Self.choice(given, &tried, coherence)
    let byCoherence = Self.choice(byEvents, &tried, coherence)
    let choice = byCoherence ?? byEvents.choice
    isByCoherence = byCoherence != nil
    alternatives = choice.alternatives
    tried.addExchanges(of: choice.powers)
    found = choice.powers
    comparison = Comparison(given.scores, found.scores)
    alike = Self.alike(choice.powers, tried, coherence)
    second = tried.top(without: Set(tried.images(of: found.order))).map {
      ($0, tried.comparison(choice.powers, $0))
    }
  }

  /// What the events alone choose, and whether they prefer it clearly to the order given, if it is another.
  private typealias EventChoice = (choice: TriedOrders.Choice, isClear: Bool)

  private static func choice(_ given: SteeredPowers, _ tried: inout TriedOrders, _ coherence: CoherenceOrder)
    -> EventChoice
  {
    let best = tried.best()
    let comparison = tried.comparison(given, best)
    let isAccepted =
      comparison.gain > Thresholds.orderGain && comparison.certainty > Thresholds.leastCertainty
      && (comparison.gain > Thresholds.clearGain
        || !coherence.prefers(given.order, to: best, by: Thresholds.coherenceGain))
    let choice =
      isAccepted ? tried.choice(best) : TriedOrders.Choice(powers: given, alternatives: [given.order])
    return (choice, choice.powers.order == given.order || comparison.gain > Thresholds.clearGain)
  }

  /// What coherences choose where events leave a choice; nil where they do not, or coherences do not speak.
  private static func choice(_ byEvents: EventChoice, _ tried: inout TriedOrders, _ coherence: CoherenceOrder)
    -> TriedOrders.Choice?
  {
    let powers = byEvents.choice.powers
    tried.addExchanges(of: powers)
    guard !byEvents.isClear || tried.hasRivals(powers),
      let order = coherence.better(than: powers.order)
    else { return nil }
    let choice = tried.choice(order)
    let loss = -Comparison(powers.scores, choice.powers.scores).gain
    return loss < Thresholds.lossForCoherence ? choice : nil
  }

  private static func alike(_ powers: SteeredPowers, _ tried: TriedOrders, _ coherence: CoherenceOrder)
    -> [(Int, Int)]
  {
    let own = Set(tried.images(of: powers.order))
    return pairs(powers.order.count).filter { i, j in
      let other = powers.order.exchanging(i, j)
      return own.contains(other)
        || tried.isAsGood(other, as: powers) && !coherence.prefers(powers.order, to: other)
    }.map { ($0.1, $0.0) }
  }
}
