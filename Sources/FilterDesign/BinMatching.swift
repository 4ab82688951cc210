import CLapack
import Numerics
import Synchronization

/// Regularised least squares in one frequency bin: finds weights w for which Vᵀw approximates a target pattern.
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
  let meanEnergy: Double

  /// - Parameter amplitudes: square root of what each direction counts in the covariance, relative to the mean; nil if all
  ///   count the same.
  init(responses: UnsafePointer<Complex>, microphones: Int, directions: Int, amplitudes: [Double]? = nil) {
    self.responses = responses
    self.microphones = microphones
    self.directions = directions
    var matrix = [Complex](repeating: .zero, count: microphones * microphones)
    func setMatrix(_ responses: UnsafePointer<Complex>) {
      // V·Vᴴ = R* in row-major order is R in column-major order, which HermitianEigen expects.
      cblas_zherk(
        CblasRowMajor, CblasUpper, CblasNoTrans, Int32(microphones), Int32(directions),
        1 / Double(directions), responses, Int32(directions), 0, &matrix, Int32(microphones))
    }
    if let amplitudes {
      setMatrix(
        (0..<microphones).flatMap { m in
          amplitudes.indices.map { amplitudes[$0] * responses[m * directions + $0] }
        })
    } else {
      setMatrix(responses)
    }
    for m in 0..<microphones {
      for n in 0..<m { matrix[m * microphones + n] = matrix[n * microphones + m].conjugate }
    }
    covarianceEigen = HermitianEigen(matrix: matrix, order: microphones)
    covariance = matrix.map(\.conjugate)
    meanEnergy = covarianceEigen.values.reduce(0, +) / Double(microphones)
  }

  /// Creates one match per bin, on all cores.
  /// - Parameter responses: shape `[bin][microphone][direction]`. The buffer must outlive the result.
  static func all(
    _ responses: UnsafeBufferPointer<Complex>, microphones: Int, directions: Int,
    amplitudes: [Double]? = nil, step: DesignStep
  ) throws(DesignError) -> [BinMatching] {
    let size = microphones * directions
    let count = responses.count / size
    nonisolated(unsafe) let base = responses.baseAddress
    let matches = Mutex([BinMatching?](repeating: nil, count: count))
    let block = 16
    let steps = step.divided(by: [Double](repeating: 1, count: (count + block - 1) / block))
    try DesignThreads.forEach(steps.count) { number throws(DesignError) in
      let bins = number * block..<min((number + 1) * block, count)
      let found = bins.map {
        BinMatching(
          responses: base! + $0 * size, microphones: microphones, directions: directions,
          amplitudes: amplitudes)
      }
      matches.withLock { matches in for (bin, match) in zip(bins, found) { matches[bin] = match } }
      try steps[number].reached(1)
    }
    return matches.withLock { $0.map { $0! } }
  }

  /// From as many rows on, a product of matrices is faster than products with vectors.
  private static let fewRows = 3

  /// Writes the directional responses Vᵀw of several outputs to `result`, shape `[output][direction]`.
  ///
  /// Hazard: zgemv_n of OpenBLAS 0.3.21 reads one element behind `weights` (see `HermitianEigen.decompose`); it must be
  /// readable.
  func patterns(
    of weights: UnsafePointer<Complex>, rows: Int, into result: UnsafeMutablePointer<Complex>
  ) {
    var (one, zero) = (Complex.one, Complex.zero)
    let (count, width) = (Int32(microphones), Int32(directions))
    guard rows < Self.fewRows else {
      cblas_zgemm(
        CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), width, count, &one, weights, count, responses,
        width, &zero, result, width)
      return
    }
    for row in 0..<rows {
      cblas_zgemv(
        CblasColMajor, CblasNoTrans, width, count, &one, responses, width, weights + row * microphones, 1,
        &zero, result + row * directions, 1)
    }
  }

  /// Writes the cross-correlations V* t / directions of several targets with the microphones to `result`, shape
  /// `[target][microphone]`.
  func correlations(
    with targets: UnsafePointer<Complex>, rows: Int, into result: UnsafeMutablePointer<Complex>
  ) {
    var (scale, zero) = (Complex(1 / Double(directions), 0), Complex.zero)
    let (count, width) = (Int32(microphones), Int32(directions))
    guard rows < Self.fewRows else {
      cblas_zgemm(
        CblasRowMajor, CblasNoTrans, CblasConjTrans, Int32(rows), count, width, &scale, targets, width,
        responses, width, &zero, result, count)
      return
    }
    for row in 0..<rows {
      cblas_zgemv(
        CblasColMajor, CblasConjTrans, width, count, &scale, responses, width, targets + row * directions, 1,
        &zero, result + row * microphones, 1)
    }
  }

  /// The cross-correlation V* t / directions of each target with the microphones, projected onto the eigenvectors of
  /// the covariance: `[output][eigenvector]`.
  func correlation(with targets: [Complex], outputs: Int) -> [[Complex]] {
    var result = [Complex](repeating: .zero, count: outputs * microphones)
    correlations(with: targets, rows: outputs, into: &result)
    return result.withUnsafeBufferPointer { buffer in
      (0..<outputs).map { covarianceEigen.project(buffer.baseAddress! + $0 * microphones) }
    }
  }

  /// The Tikhonov-regularised solution b / (λ + regulariser): its components along the eigenvectors.
  /// - Parameter correlation: b, as `correlation(with:outputs:)` returns it for one output.
  func solution(_ correlation: [Complex], regulariser: Double) -> [Complex] {
    covarianceEigen.solution(correlation, regulariser: regulariser)
  }

  /// See `smallestRegulariser`.
  func regulariser(from smallest: Double, to largest: Double, accepts: (Double) -> Bool) -> Double {
    smallestRegulariser(from: smallest, to: largest, accepts: accepts)
  }
}
