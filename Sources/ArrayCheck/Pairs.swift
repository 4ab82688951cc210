/// All pairs (i, j) with j < i, by i and then by j.
func pairs(_ count: Int) -> [(Int, Int)] {
  (0..<count).flatMap { i in (0..<i).map { (i, $0) } }
}

/// A symmetric matrix with zeros on its diagonal.
func symmetric(_ count: Int, _ value: (Int, Int) -> Double) -> [[Double]] {
  var matrix = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
  for (i, j) in pairs(count) {
    matrix[i][j] = value(i, j)
    matrix[j][i] = matrix[i][j]
  }
  return matrix
}

extension [Int] {
  /// The order reached by exchanging two elements as long as that gains more than `least`, the best two first.
  /// - Parameter gains: for an order, the gain of each exchange.
  func climbing(least: Double, gains: ([Int]) -> (Int, Int) -> Double) -> [Int] {
    var order = self
    while true {
      let gain = gains(order)
      var best = (pair: (0, 0), gain: 0.0)
      for (i, j) in pairs(count) {
        let gain = gain(i, j)
        if gain > best.gain + least { best = ((i, j), gain) }
      }
      guard best.gain > 0 else { return order }
      order = order.exchanging(best.pair.0, best.pair.1)
    }
  }

  func exchanging(_ i: Int, _ j: Int) -> [Int] {
    var other = self
    other.swapAt(i, j)
    return other
  }
}

func median(_ values: [Double]) -> Double {
  guard !values.isEmpty else { return 0 }
  let sorted = values.sorted()
  return 0.5 * (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2])
}
