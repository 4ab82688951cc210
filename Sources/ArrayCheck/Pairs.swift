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

/// A small random generator with a known sequence.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
