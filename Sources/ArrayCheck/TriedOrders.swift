import Acoustics

/// What the events say about every order of the channels that was looked at.
struct TriedOrders {
  private let given: SteeredPowers
  /// Permutations of the microphones that leave the array as it is.
  private let isometries: [[Int]]
  private var scores: [[Int]: [Float]]

  /// Begins with the order as given and every exchange of two channels.
  init(_ given: SteeredPowers, isometries: [[Int]]) {
    self.given = given
    self.isometries = isometries
    scores = [given.order: given.scores]
    addExchanges(of: given)
  }

  /// Adds orders of the same events.
  mutating func add(_ orders: [[Int]]) {
    for order in orders where scores[order] == nil { scores[order] = given.scores(order: order) }
  }

  /// Adds every exchange of two channels from there.
  mutating func addExchanges(of powers: SteeredPowers) {
    for (i, j) in pairs(powers.order.count) {
      let other = powers.order.exchanging(i, j)
      if scores[other] == nil { scores[other] = powers.scores(swapping: i, j) }
    }
  }

  /// The order that fits best; from there, exchanges two channels as long as that helps.
  mutating func best() -> [Int] {
    var best = top()!
    for _ in 0..<3 where best != given.order {
      addExchanges(of: given.reordered(best))
      let next = top()!
      guard next != best else { break }
      best = next
    }
    return best
  }

  /// The order that fits best, apart from some.
  func top(without excluded: Set<[Int]> = []) -> [Int]? {
    scores.filter { !excluded.contains($0.key) }.max { $0.value.mean < $1.value.mean }?.key
  }

  /// An order whose images under the isometries are as good.
  struct Choice {
    let powers: SteeredPowers
    /// The order and those of its images that move as few channels.
    let alternatives: [[Int]]
  }

  /// The simplest image of an order: the one that moves the fewest channels.
  mutating func choice(_ order: [Int]) -> Choice {
    let alternatives = simplestImages(of: given.reordered(order))
    let powers = given.reordered(alternatives[0])
    scores[powers.order] = powers.scores
    return Choice(powers: powers, alternatives: alternatives)
  }

  private mutating func simplestImages(of powers: SteeredPowers) -> [[Int]] {
    let images = images(of: powers.order).map { (order: $0, moved: Self.moved($0)) }
      .sorted { $0.moved < $1.moved }.prefix(48)
    var found: [(order: [Int], moved: Int)] = []
    for image in images {
      guard image.moved <= found.first?.moved ?? .max else { break }
      add([image.order])
      // Bodies may rule an image out.
      if comparison(powers, image.order).gain > -Thresholds.imageLoss { found.append(image) }
    }
    return found.isEmpty ? [powers.order] : found.map(\.order)
  }

  private static func moved(_ order: [Int]) -> Int { order.indices.count { order[$0] != $0 } }

  /// The order itself, mirrored and turned.
  func images(of order: [Int]) -> [[Int]] { isometries.map { image in order.map { image[$0] } } }

  /// Compares an order that was looked at with another one's powers.
  func comparison(_ powers: SteeredPowers, _ order: [Int]) -> Comparison {
    Comparison(powers.scores, scores[order]!)
  }

  func isAsGood(_ order: [Int], as powers: SteeredPowers) -> Bool {
    let comparison = comparison(powers, order)
    return comparison.gain > -Thresholds.equalGain || comparison.certainty > -Thresholds.equalCertainty
  }

  /// Whether the events cannot tell `powers` from another order that is no image of it.
  func hasRivals(_ powers: SteeredPowers) -> Bool {
    let own = Set(images(of: powers.order))
    return scores.keys.contains { !own.contains($0) && isAsGood($0, as: powers) }
  }
}
