import CLapack
import Foundation
import Numerics

/// One frequency bin of a least-squares match: weights w for which Vᵀw comes near a target over the
/// directions, each of which weighs the same.
///
/// Shapes: `responses` V `[microphone][direction]`, targets `[output][direction]`, weights
/// `[output][microphone]`.
struct BinMatching {
  let microphones: Int
  let directions: Int
  let responses: UnsafePointer<Complex>
  /// Of R = V* Vᵀ / directions, the energy that the weights pick up: wᴴ R w.
  let energy: HermitianEigen
  /// R itself, row by row.
  let energyMatrix: [Complex]

  init(responses: UnsafePointer<Complex>, microphones: Int, directions: Int) {
    self.responses = responses
    self.microphones = microphones
    self.directions = directions
    var matrix = [Complex](repeating: .zero, count: microphones * microphones)
    var scale = Complex(1 / Double(directions), 0)
    var zero = Complex.zero
    // Row by row this is V·Vᴴ, read column by column R: its complex conjugate.
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasConjTrans, Int32(microphones), Int32(microphones), Int32(directions),
      &scale, responses, Int32(directions), responses, Int32(directions), &zero, &matrix, Int32(microphones))
    energy = HermitianEigen(matrix: matrix, order: microphones)
    energyMatrix = matrix.map(\.conjugate)
  }

  /// One for each bin of `responses`, shape `[bin][microphone][direction]`, which must outlive them.
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

  /// What `weights` make of the directions: `[output][direction]`.
  func pattern(of weights: [Complex], outputs: Int, into result: inout [Complex]) {
    var one = Complex.one
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(outputs), Int32(directions), Int32(microphones), &one,
      weights, Int32(microphones), responses, Int32(directions), &zero, &result, Int32(directions))
  }

  /// V* t / directions for each target, along the eigenvectors: `[output][eigenvector]`.
  func correlation(with targets: [Complex], outputs: Int) -> [[Complex]] {
    var result = [Complex](repeating: .zero, count: outputs * microphones)
    var scale = Complex(1 / Double(directions), 0)
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasConjTrans, Int32(outputs), Int32(microphones), Int32(directions),
      &scale, targets, Int32(directions), responses, Int32(directions), &zero, &result, Int32(microphones))
    return result.withUnsafeBufferPointer { buffer in
      (0..<outputs).map { energy.project(buffer.baseAddress! + $0 * microphones) }
    }
  }

  /// x = b / (λ + l) for regulariser l: components along the eigenvectors.
  func solution(_ correlation: [Complex], regulariser: Double) -> [Complex] {
    zip(correlation, energy.values).map { b, value in (1 / (value + regulariser)) * b }
  }

  /// The least regulariser, from `smallest` up to `largest`, whose solution `accepts` takes; found by bisecting
  /// its logarithm. The largest where none is acceptable.
  func regulariser(
    of correlation: [Complex], from smallest: Double, to largest: Double, accepts: ([Complex]) -> Bool
  ) -> Double {
    if smallest <= 0 || accepts(solution(correlation, regulariser: smallest)) { return smallest }
    var low = log(smallest)
    var high = log(largest)
    for _ in 0..<30 {
      let middle = (low + high) / 2
      if accepts(solution(correlation, regulariser: exp(middle))) { high = middle } else { low = middle }
    }
    return exp(high)
  }
}
