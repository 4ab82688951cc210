import Acoustics
import Numerics

/// Magnitude least squares of several patterns, or of several starts of one: alternates between solving and adopting the
/// phases of the result. Products with the responses of a bin serve all rows.
struct MagnitudeRows {
  /// Rows whose phases fit into the processor's cache.
  static let most = 24

  private let matchings: [PatternMatching]
  private let directions: Int
  private let microphones: Int
  /// Directional responses: `[row][direction]`.
  private var responses: [Complex]
  /// `[row][microphone]`, and one more, which `BinMatching.patterns` needs.
  private var weights: [Complex]
  private var correlations: [Complex]

  /// - Parameter matchings: the pattern of each row.
  init(_ matchings: [PatternMatching]) {
    self.matchings = matchings
    (directions, microphones) = (matchings[0].magnitudes.count, matchings[0].matches[0].microphones)
    responses = [Complex](repeating: .zero, count: matchings.count * directions)
    weights = [Complex](repeating: .zero, count: matchings.count * microphones + 1)
    correlations = [Complex](repeating: .zero, count: matchings.count * microphones)
  }

  /// The weights of one row, `[microphone]`.
  func weights(_ row: Int) -> [Complex] { Array(weights[row * microphones..<(row + 1) * microphones]) }

  mutating func setWeights(_ row: Int, _ new: [Complex]) {
    weights.replaceSubrange(row * microphones..<(row + 1) * microphones, with: new)
  }

  /// Takes the phases of a microphone as initial ones.
  mutating func begin(_ row: Int, _ bin: Int, from microphone: Int) {
    let own = matchings[0].matches[bin].responses + microphone * directions
    for d in 0..<directions { responses[row * directions + d] = own[d] }
  }

  /// Takes the phases of what `weights` reach as initial ones.
  mutating func begin(_ row: Int, _ bin: Int, from weights: [Complex]) {
    responses.replaceSubrange(
      row * directions..<(row + 1) * directions, with: matchings[0].pattern(of: weights, bin))
  }

  /// Takes the phases of what all rows' weights reach in a bin as initial ones.
  mutating func respond(_ bin: Int) {
    matchings[0].matches[bin].patterns(of: weights, rows: matchings.count, into: &responses)
  }

  /// Matches all rows, which end with the responses of the match.
  /// - Returns: the regulariser of each row.
  mutating func match(_ bin: Int, passes: Int, step: DesignStep) throws(DesignError) -> [Double] {
    let match = matchings[0].matches[bin]
    let eigen = match.covarianceEigen
    var regularisers = [Double](repeating: 0, count: matchings.count)
    for _ in 0..<passes {
      try step.check()
      for row in matchings.indices { adopt(row, bin) }
      match.correlations(with: responses, rows: matchings.count, into: &correlations)
      for (row, matching) in matchings.enumerated() {
        let projected = correlations.withUnsafeBufferPointer {
          eigen.project($0.baseAddress! + row * microphones)
        }
        let solution = matching.solve(
          bin, projected, energy: matching.meanEnergy, least: matching.parameters.minimumMagnitudeRegulariser)
        regularisers[row] = solution.regulariser
        setWeights(row, eigen.combine(solution.components))
      }
      respond(bin)
    }
    return regularisers
  }

  /// Replaces the magnitudes of a response by those of the pattern. What is zero gets the phase 0 at the centroid.
  private mutating func adopt(_ row: Int, _ bin: Int) {
    var hasZeros = false
    responses.withUnsafeMutableBytes { bytes in
      matchings[row].magnitudes.withUnsafeBufferPointer { magnitudes in
        let values = bytes.bindMemory(to: Double.self).baseAddress! + 2 * row * directions
        // Two at a time; the last one of an odd number twice.
        for d in stride(from: 0, to: directions, by: 2) {
          let next = min(d + 1, directions - 1)
          let real = SIMD2(values[2 * d], values[2 * next])
          let imaginary = SIMD2(values[2 * d + 1], values[2 * next + 1])
          let square = real * real + imaginary * imaginary
          if square[0] == 0 || square[1] == 0 { hasZeros = true }
          let scale =
            SIMD2(magnitudes[d], magnitudes[next])
            / square.replacing(with: 1, where: square .== 0).squareRoot()
          let (x, y) = (scale * real, scale * imaginary)
          (values[2 * d], values[2 * d + 1]) = (x.x, y.x)
          (values[2 * next], values[2 * next + 1]) = (x.y, y.y)
        }
      }
    }
    guard hasZeros else { return }
    let matching = matchings[row]
    let omega = 2 * .pi * matching.grid.frequency(bin)
    for d in 0..<directions where responses[row * directions + d] == .zero {
      responses[row * directions + d] =
        matching.magnitudes[d] * Complex(phase: omega * matching.leads[d])
    }
  }

  /// Mean of (|response| − |target|)² over the directions.
  func patternError(_ row: Int) -> Double {
    let magnitudes = matchings[row].magnitudes
    var sum = 0.0
    for d in 0..<directions {
      let error = responses[row * directions + d].magnitude - magnitudes[d]
      sum += error * error
    }
    return sum / Double(directions)
  }
}
