import Numerics

/// What one channel of an order hears of the order's other harmonics, in one bin.
///
/// Where noise limits the weights, least squares lets Y hear some of X, and X some of Y, which turns directions: of a phone
/// by up to 15° at 500 Hz. Therefore what a channel hears of another harmonic in phase, beyond what the array itself
/// mixes without a limit of noise, counts as a further error.
struct HarmonicCrosstalk: Sendable {
  /// The larger, the less that error counts: relative to the energy that is heard of the other harmonic without a limit of
  /// noise. A smaller one straightens directions at 125 Hz, but softens channels along which an array is short.
  private static let tolerance = 0.1
  /// A harmonic of which less than this energy is heard is silence.
  private static let leastHeard = 1e-6

  /// Correlations with each other harmonic, less the channel's own in the proportion that the array mixes:
  /// `[other][eigenvector]`.
  private let excesses: [[Complex]]
  private let tolerances: [Double]
  private let bin: BinMatching

  /// - Parameters:
  ///   - correlations: of all channels' harmonics with the microphones: `[channel][eigenvector]`.
  ///   - others: the other channels of the order.
  init(_ bin: BinMatching, _ correlations: [[Complex]], channel: Int, others: [Int]) {
    let unlimited = HarmonicMatching.least * bin.meanEnergy
    func heard(_ a: Int, of b: Int) -> Double {
      Self.product(correlations[b], bin.solution(correlations[a], regulariser: unlimited))
    }
    let own = bin.meanEnergy > 0 ? heard(channel, of: channel) : 0
    let heardOthers =
      own < Self.leastHeard
      ? [] : others.map { ($0, heard($0, of: $0)) }.filter { $0.1 >= Self.leastHeard }
    excesses = heardOthers.map { other, _ in
      let share = heard(channel, of: other) / own
      return zip(correlations[other], correlations[channel]).map { $0 - share * $1 }
    }
    tolerances = heardOthers.map { Self.tolerance * $0.1 }
    self.bin = bin
  }

  /// Whether the channel hears no other harmonic of its order.
  var isNone: Bool { excesses.isEmpty }

  /// The solution of regularised least squares with that error.
  /// - Parameter correlation: of the channel's own harmonic with the microphones.
  func solution(_ correlation: [Complex], regulariser: Double) -> [Complex] {
    var result = bin.solution(correlation, regulariser: regulariser)
    let count = excesses.count
    guard count > 0 else { return result }
    let solutions = excesses.map { bin.solution($0, regulariser: regulariser) }
    var shares = excesses.map { Self.product($0, result) }
    var matrix = excesses.flatMap { excess in solutions.map { Self.product(excess, $0) } }
    for n in 0..<count { matrix[n * count + n] += tolerances[n] }
    guard Cholesky.factor(&matrix, order: count) else { return result }
    Cholesky.solve(matrix, order: count, &shares)
    for (share, solution) in zip(shares, solutions) {
      for n in result.indices { result[n] = result[n] - share * solution[n] }
    }
    return result
  }

  private static func product(_ a: [Complex], _ b: [Complex]) -> Double {
    var sum = 0.0
    for j in a.indices { sum += a[j].real * b[j].real + a[j].imaginary * b[j].imaginary }
    return sum
  }
}
