import CLapack
import Glibc
import Numerics

/// Regularised least squares in one frequency bin: finds weights w for which Vᵀw approximates a target pattern. All
/// directions have the same weight.
///
/// Shapes: `responses` V `[microphone][direction]`, targets `[output][direction]`, weights
/// `[output][microphone]`. Threads may share it, because the responses are only read.
struct BinMatching: @unchecked Sendable {
  let microphones: Int
  let directions: Int
  let responses: UnsafePointer<Complex>
  /// Eigendecomposition of the covariance R.
  let covarianceEigen: HermitianEigen
  /// The diffuse-field covariance R = V* Vᵀ / directions, row-major. The output energy of weights w, averaged over all
  /// directions, is wᴴ R w.
  let covariance: [Complex]

  /// Energy of a microphone, averaged over microphones and directions; 1 in the free field.
  var meanEnergy: Double { covarianceEigen.values.reduce(0, +) / Double(microphones) }

  init(responses: UnsafePointer<Complex>, microphones: Int, directions: Int) {
    self.responses = responses
    self.microphones = microphones
    self.directions = directions
    var matrix = [Complex](repeating: .zero, count: microphones * microphones)
    var scale = Complex(1 / Double(directions), 0)
    var zero = Complex.zero
    // V·Vᴴ = R* in row-major order is R in column-major order, which HermitianEigen expects.
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasConjTrans, Int32(microphones), Int32(microphones), Int32(directions),
      &scale, responses, Int32(directions), responses, Int32(directions), &zero, &matrix, Int32(microphones))
    covarianceEigen = HermitianEigen(matrix: matrix, order: microphones)
    covariance = matrix.map(\.conjugate)
  }

  /// Creates one match per bin.
  /// - Parameter responses: shape `[bin][microphone][direction]`. The buffer must outlive the result.
  static func all(
    _ responses: UnsafeBufferPointer<Complex>, microphones: Int, directions: Int, step: DesignStep
  ) throws(DesignError) -> [BinMatching] {
    let size = microphones * directions
    var matches: [BinMatching] = []
    for start in stride(from: 0, to: responses.count, by: size) {
      try step.reached(Double(start) / Double(responses.count))
      matches.append(
        BinMatching(
          responses: responses.baseAddress! + start, microphones: microphones, directions: directions))
    }
    return matches
  }

  /// Writes the directional response Vᵀw of `weights` to `result`, shape `[output][direction]`.
  func pattern(of weights: [Complex], outputs: Int, into result: inout [Complex]) {
    var one = Complex.one
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(outputs), Int32(directions), Int32(microphones), &one,
      weights, Int32(microphones), responses, Int32(directions), &zero, &result, Int32(directions))
  }

  /// The cross-correlation V* t / directions of each target with the microphones, projected onto the eigenvectors of
  /// the covariance: `[output][eigenvector]`.
  func correlation(with targets: [Complex], outputs: Int) -> [[Complex]] {
    var result = [Complex](repeating: .zero, count: outputs * microphones)
    var scale = Complex(1 / Double(directions), 0)
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasConjTrans, Int32(outputs), Int32(microphones), Int32(directions),
      &scale, targets, Int32(directions), responses, Int32(directions), &zero, &result, Int32(microphones))
    return result.withUnsafeBufferPointer { buffer in
      (0..<outputs).map { covarianceEigen.project(buffer.baseAddress! + $0 * microphones) }
    }
  }

  /// The Tikhonov-regularised solution b / (λ + regulariser): its components along the eigenvectors.
  /// - Parameter correlation: b, as `correlation(with:outputs:)` returns it for one output.
  func solution(_ correlation: [Complex], regulariser: Double) -> [Complex] {
    zip(correlation, covarianceEigen.values).map { b, eigenvalue in (1 / (eigenvalue + regulariser)) * b }
  }

  /// Finds the smallest regulariser from `smallest` to `largest` whose solution `accepts` approves.
  /// - Returns: `largest` if no solution is accepted.
  func regulariser(
    of correlation: [Complex], from smallest: Double, to largest: Double, accepts: ([Complex]) -> Bool
  ) -> Double {
    regulariser(from: smallest, to: largest) { accepts(solution(correlation, regulariser: $0)) }
  }

  /// Finds the smallest regulariser from `smallest` to `largest` that `accepts` approves. The search bisects the logarithm
  /// and assumes that every larger regulariser is accepted, too.
  /// - Returns: `largest` if none is accepted.
  func regulariser(from smallest: Double, to largest: Double, accepts: (Double) -> Bool) -> Double {
    if smallest <= 0 || accepts(smallest) { return smallest }
    var low = log(smallest)
    var high = log(largest)
    for _ in 0..<30 {
      let middle = (low + high) / 2
      if accepts(exp(middle)) { high = middle } else { low = middle }
    }
    return exp(high)
  }
}
