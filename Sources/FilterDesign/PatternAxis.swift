import Acoustics
import Numerics

/// What the patterns of one axis share in one bin.
struct PatternAxis: Sendable {
  /// Microphone responses on the axis: `[microphone]`.
  let responses: [Complex]
  /// The same along the covariance's eigenvectors, so that Σ component × component of weights is the response.
  let components: [Complex]
  /// Correlations of the microphones with an omnidirectional pattern and a figure of eight, along the eigenvectors. Those
  /// of all patterns are sums of them.
  private let omnidirectional: [Complex]
  private let figureEight: [Complex]

  /// - Parameters:
  ///   - responses: on the axis, `[microphone]`.
  ///   - targets: of both patterns, `[pattern][direction]`; nil where only magnitudes are matched.
  init(_ match: BinMatching, responses: [Complex], targets: [Complex]?) {
    self.responses = responses
    let eigen = match.covarianceEigen
    components = (0..<eigen.order).map { j in
      (0..<eigen.order).reduce(Complex.zero) { $0 + eigen.vectors[j * eigen.order + $1] * responses[$1] }
    }
    let correlations = targets.map { match.correlation(with: $0, outputs: 2) } ?? [[], []]
    (omnidirectional, figureEight) = (correlations[0], correlations[1])
  }

  /// The correlation of the pattern α + (1 − α) cos θ with the microphones, along the eigenvectors.
  func correlation(_ alpha: Double) -> [Complex] {
    omnidirectional.indices.map { alpha * omnidirectional[$0] + (1 - alpha) * figureEight[$0] }
  }

  /// Directivity factor, a power ratio, of weights along the eigenvectors.
  func directivity(of weights: [Complex], _ match: BinMatching) -> Double {
    var (onAxis, diffuse) = (Complex.zero, 0.0)
    for (j, eigenvalue) in match.covarianceEigen.values.enumerated() {
      onAxis += weights[j] * components[j]
      diffuse += eigenvalue * weights[j].squaredMagnitude
    }
    return onAxis.squaredMagnitude / max(diffuse, 1e-30)
  }
}
