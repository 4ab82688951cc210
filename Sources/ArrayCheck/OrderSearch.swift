import Acoustics
import Glibc

/// The order of the channels that the events fit best, among those that a plausible mistake makes.
struct OrderSearch {
  /// What the events say under the order found.
  let found: SteeredPowers
  /// Against the order as given.
  let comparison: Comparison
  /// The best order that is no image of the one found, and how it compares.
  let second: (order: [Int], comparison: Comparison)?
  /// Orders that fit as well without being mirror images or rotations.
  let equals: [[Int]]
  /// Whether coherences decided, because events left a choice.
  private(set) var isByCoherence = false
  /// The order found and its mirror images and rotations, as far as they move no more channels; empty if it is the one
  /// given.
  private(set) var alternatives: [[Int]] = []
  /// Pairs of channels that could be exchanged without a difference.
  let alike: [(Int, Int)]

  /// Another order is accepted if it fits the events better by this much, with this certainty.
  static let leastGain = 0.006
  static let leastCertainty = 5.0
  /// What an image of an order may explain less: the directions tried are not symmetric.
  private static let imageLoss = 0.03
  /// Orders that fit less well by less than this are as good.
  private static let equalGain = 0.004
  /// What an order may explain less of the events, if coherences speak for it.
  private static let coherenceLoss = 0.08
  /// From this gain on, events speak so clearly that coherences are not asked.
  private static let clearGain = 0.08
  private static let candidates = 24
  private static let images = 48

  var isGiven: Bool { found.order == Array(found.order.indices) }

  init(
    _ given: SteeredPowers, table: SteeringTable, events: SoundEvents, positions: [Position],
    isometries: [[Int]],
    coherence: CoherenceOrder
  ) {
    let size = positions.count
    let extent = positions.flatMap { a in positions.map { (a - $0).length } }.max() ?? 0
    let identity = Array(0..<size)
    func moved(_ order: [Int]) -> Int { order.indices.count { order[$0] != $0 } }
    /// Scores of every order that was looked at.
    var known: [[Int]: [Float]] = [identity: given.scores]
    for (i, j) in Self.pairs(size) {
      var order = identity
      order.swapAt(i, j)
      known[order] = given.scores(swapping: i, j)
    }
    let delays = DelayVectors(events, reach: 1.5 * extent / speedOfSound + 1e-4)
    for order in delays.orders(positions, rank: table.rank, count: Self.candidates) where known[order] == nil
    {
      known[order] = given.scores(order: order)
    }
    func mean(_ scores: [Float]) -> Double { Double(scores.reduce(0, +)) / Double(max(1, scores.count)) }
    var best = known.max { mean($0.value) < mean($1.value) }!
    // From the best one on, exchange two channels as long as that helps.
    var current = best.key == identity ? given : given.reordered(best.key)
    for _ in 0..<3 where best.key != identity {
      var improved = false
      for (i, j) in Self.pairs(size) {
        var order = current.order
        order.swapAt(i, j)
        let scores = known[order] ?? current.scores(swapping: i, j)
        known[order] = scores
        if mean(scores) > mean(best.value) { (best, improved) = ((order, scores), true) }
      }
      guard improved else { break }
      current = given.reordered(best.key)
    }
    let gain = Comparison(given.scores, best.value)
    var chosen = identity
    if gain.gain > Self.leastGain, gain.certainty > Self.leastCertainty,
      gain.gain > Self.clearGain || !coherence.prefers(identity, to: best.key, by: CoherenceOrder.leastGain)
    {
      chosen = best.key
    }
    /// Of an order's images, those that move the fewest channels. Bodies may rule some of them out.
    func simplest(_ order: [Int], as powers: SteeredPowers) -> [[Int]] {
      let images = isometries.map { image in order.map { image[$0] } }.sorted { moved($0) < moved($1) }
      var found: [[Int]] = []
      for image in images.prefix(Self.images) {
        guard moved(image) <= found.first.map(moved) ?? size else { break }
        let scores = known[image] ?? given.scores(order: image)
        known[image] = scores
        if Comparison(powers.scores, scores).gain > -Self.imageLoss { found.append(image) }
      }
      return found.isEmpty ? [order] : found
    }
    func isAsGood(_ order: [Int], as other: [Float]) -> Bool {
      let comparison = Comparison(other, known[order]!)
      return comparison.gain > -Self.equalGain || comparison.certainty > -2
    }
    func images(of order: [Int]) -> Set<[Int]> { Set(isometries.map { image in order.map { image[$0] } }) }
    func exchanged(_ order: [Int], _ i: Int, _ j: Int) -> [Int] {
      var other = order
      other.swapAt(i, j)
      return other
    }
    /// Orders that the events cannot tell from `order`.
    func rivals(_ order: [Int], _ powers: SteeredPowers) -> [[Int]] {
      let own = images(of: order)
      for (i, j) in Self.pairs(size) where known[exchanged(order, i, j)] == nil {
        known[exchanged(order, i, j)] = powers.scores(swapping: i, j)
      }
      return known.keys.filter { !own.contains($0) && isAsGood($0, as: powers.scores) }
    }
    var chosenPowers = chosen == identity ? given : given.reordered(chosen)
    if chosen != identity {
      alternatives = simplest(chosen, as: chosenPowers)
      chosen = alternatives[0]
      chosenPowers = given.reordered(chosen)
    }
    known[chosen] = chosenPowers.scores
    var equals = rivals(chosen, chosenPowers)
    // Where events leave a choice, coherences decide.
    let isClear = equals.isEmpty && (chosen == identity || gain.gain > Self.clearGain)
    if !isClear, let other = coherence.better(than: chosen) {
      let images = simplest(other, as: given.reordered(other))
      let order = images[0]
      let powers = given.reordered(order)
      known[order] = powers.scores
      if Comparison(chosenPowers.scores, powers.scores).gain > -Self.coherenceLoss {
        (chosen, chosenPowers, isByCoherence, alternatives) = (order, powers, true, images)
        equals = rivals(chosen, chosenPowers)
      }
    }
    found = chosenPowers
    let scores = chosenPowers.scores
    comparison = Comparison(given.scores, scores)
    let own = images(of: chosen)
    self.equals = equals.filter { !coherence.prefers(chosen, to: $0) }
    alike = Self.pairs(size).filter { i, j in
      let other = exchanged(chosen, i, j)
      if own.contains(other) { return true }
      return isAsGood(other, as: scores) && !coherence.rulesOut(exchanging: i, j, of: chosen)
    }.map { ($0.1, $0.0) }
    second = known.filter { !own.contains($0.key) && $0.key != chosen }
      .max { mean($0.value) < mean($1.value) }.map { ($0.key, Comparison(scores, $0.value)) }
  }

  private static func pairs(_ size: Int) -> [(Int, Int)] {
    (0..<size).flatMap { i in (0..<i).map { (i, $0) } }
  }

  /// Orders that leave all distances between microphones as they are, and what directional capsules face.
  static func isometries(_ microphones: [Microphone]) -> [[Int]] {
    let size = microphones.count
    let tolerance = 2e-3
    func distance(_ i: Int, _ j: Int) -> Double { (microphones[i].position - microphones[j].position).length }
    func facing(_ i: Int, _ j: Int) -> Double {
      guard let a = microphones[i].capsule, let b = microphones[j].capsule else { return 0 }
      return a.facing.vector.dot(b.facing.vector)
    }
    var found: [[Int]] = []
    var order: [Int] = []
    func extend() {
      guard found.count < 200 else { return }
      let m = order.count
      guard m < size else {
        found.append(order)
        return
      }
      for p in 0..<size where !order.contains(p) {
        let fits = (0..<m).allSatisfy {
          abs(distance(m, $0) - distance(p, order[$0])) < tolerance
            && abs(facing(m, $0) - facing(p, order[$0])) < 0.02
        }
        guard fits, (microphones[m].capsule == nil) == (microphones[p].capsule == nil) else { continue }
        order.append(p)
        extend()
        order.removeLast()
      }
    }
    extend()
    return found
  }
}
