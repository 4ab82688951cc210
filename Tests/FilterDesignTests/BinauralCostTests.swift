import Acoustics
import FilterDesign
import Numerics
import TestSupport
import Testing

/// The derivatives that the stereo design follows, against differences.
@Suite("Cost of both ears") struct BinauralCostTests {
  private static let (microphones, sectors) = (3, 4)
  private static var parameters: DesignParameters.Joint {
    var parameters = DesignParameters.Joint()
    // Large enough to be seen beside the others.
    parameters.smoothness = 3
    return parameters
  }

  /// Covariance of a few random directions.
  private static func covariance(_ random: inout SeededNoise) -> [Complex] {
    let columns = (0..<5).map { _ in vector(microphones, &random) }
    return (0..<microphones * microphones).map { k in
      columns.reduce(Complex.zero) { $0 + $1[k / microphones] * $1[k % microphones].conjugate }
    }
  }

  private static func vector(_ count: Int, _ random: inout SeededNoise) -> [Complex] {
    (0..<count).map { _ in
      let parts = random.samples(2, amplitude: 1)
      return Complex(Double(parts[0]), Double(parts[1]))
    }
  }

  /// - Parameter noiseGainLimit: above it the noise gain is penalised.
  private static func cost(noiseGainLimit: Double, seed: UInt64) -> BinauralCost {
    var random = SeededNoise(seed: seed)
    return BinauralCost(
      covariance: covariance(&random),
      sectorCovariances: (0..<sectors).flatMap { _ in covariance(&random) },
      importance: [0.4, 0.3, 0.2, 0.1],
      target: BinauralCost.Target(
        energies: (0..<2 * sectors).map { 0.5 + Double($0) },
        crossSpectra: vector(sectors, &random).map { 0.6 * $0 }, axis: vector(2 * microphones, &random),
        axisEnergies: [3, 1], frontBackWeight: 5,
        floor: 0.1, noiseGainLimit: noiseGainLimit, crossWeight: 20, leastSquaresWeight: 2,
        leastSquaresCovariance: covariance(&random),
        leastSquaresCorrelation: vector(2 * microphones, &random), previous: vector(2 * microphones, &random)),
      parameters: parameters)
  }

  @Test(
    "gradient and Hessian are those of differences, with and without too much noise gain",
    arguments: [1e-3, 1e3])
  func derivatives(noiseGainLimit: Double) {
    let order = 4 * Self.microphones
    for seed: UInt64 in 1...5 {
      var cost = Self.cost(noiseGainLimit: noiseGainLimit, seed: seed)
      var random = SeededNoise(seed: 100 + seed)
      let point = random.samples(order, amplitude: 1).map(Double.init)
      var gradient = [Double](repeating: 0, count: order)
      var hessian = [Double](repeating: 0, count: order * order)
      _ = cost.evaluate(point, &gradient, &hessian)
      let (step, scale) = (1e-5, gradient.map(\.magnitude).max()!)
      let curvature = hessian.map(\.magnitude).max()!
      for j in 0..<order {
        var values: [Double] = []
        var gradients: [[Double]] = []
        for sign in [-1.0, 1] {
          var moved = point
          moved[j] += sign * step
          var (other, unused) = (gradient, hessian)
          values.append(cost.evaluate(moved, &other, &unused))
          gradients.append(other)
        }
        #expect(abs((values[1] - values[0]) / (2 * step) - gradient[j]) < 1e-6 * scale, "\(j)")
        for k in j..<order {
          let wanted = (gradients[1][k] - gradients[0][k]) / (2 * step)
          #expect(abs(wanted - hessian[j * order + k]) < 1e-6 * curvature, "\(j) \(k)")
        }
      }
    }
  }
}
