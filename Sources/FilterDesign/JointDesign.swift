import Acoustics
import Glibc
import Numerics

/// Designs the weights of both ears together: minimises `BinauralCost` in each bin, for the listener in whose place the
/// device is.
///
/// Complex least squares also fit the phase that both ears share, which is inaudible. Magnitude least squares leave the
/// interaural coherence free.
struct JointDesign: Sendable {
  private let parameters: DesignParameters.Joint
  let sectors: Sectors
  /// Energies of the target: `[frequency][sector][ear]`, flat within each frequency.
  private let targetEnergies: [[Double]]
  /// Normalised interaural cross-spectra of the target: `[frequency][sector]`.
  private let targetCrossSpectra: [[Complex]]
  /// Lowest energy that matters at each frequency: a fraction of the target's mean over all directions and both ears.
  private let floors: [Double]

  /// - Parameters:
  ///   - target: target ear responses, `[frequency][ear][direction]`.
  ///   - directions: unit vectors of the head frame.
  ///   - importance: what each direction counts, mean 1; nil if all count the same.
  init(
    target: ResponseGrid, directions: [SIMD3<Double>], parameters: DesignParameters.Joint,
    importance: [Double]? = nil
  ) {
    self.parameters = parameters
    let sectors = Sectors(directions: directions, parameters: parameters, importance: importance)
    self.sectors = sectors
    let count = directions.count
    floors = (0..<target.frequencies).map { f in
      parameters.floor
        * mean(target.values[2 * f * count..<2 * (f + 1) * count].map(\.squaredMagnitude))
    }
    // Energies of both ears and their cross-spectrum in all directions: four rows for each frequency.
    var (energies, crossSpectra) = ([[Double]](), [[Complex]]())
    let block = 16
    var rows = [Double](repeating: 0, count: 4 * block * count)
    for first in stride(from: 0, to: target.frequencies, by: block) {
      let frequencies = min(block, target.frequencies - first)
      rows.withUnsafeMutableBufferPointer { rows in
        target.values.withUnsafeBufferPointer { values in
          for f in 0..<frequencies {
            let left = values.baseAddress! + 2 * (first + f) * count
            let right = left + count
            let row = rows.baseAddress! + 4 * f * count
            for d in 0..<count {
              let product = left[d] * right[d].conjugate
              row[d] = left[d].squaredMagnitude
              row[count + d] = right[d].squaredMagnitude
              row[2 * count + d] = product.real
              row[3 * count + d] = product.imaginary
            }
          }
        }
      }
      let means = sectors.means(of: rows, count: 4 * block)
      for f in 0..<frequencies {
        let sums = (0..<sectors.count).map { s in (0..<4).map { means[4 * (s * block + f) + $0] } }
        let floor = floors[first + f]
        energies.append(sums.flatMap { [$0[0], $0[1]] })
        crossSpectra.append(
          sums.map { sums in
            let energy = (sums[0] + floor) * (sums[1] + floor)
            return (1 / energy.squareRoot()) * Complex(sums[2], sums[3])
          })
      }
    }
    (targetEnergies, targetCrossSpectra) = (energies, crossSpectra)
  }

  /// Minimises the cost of one bin.
  /// - Parameters:
  ///   - starts: initial weights, each `[ear][microphone]`, of which the one that ends best counts.
  ///   - previous: weights to stay near to: those of the bin below, or of this bin for a pose beside.
  ///   - nearness: how much that counts; 1 for the bin below.
  ///   - bin: index into the target's frequencies.
  ///   - frequency: of the bin, in hertz.
  ///   - covariance: of the array's responses over all directions.
  ///   - sectorCovariances: the same over each sector, `[sector][row][column]`.
  ///   - leastSquares: the covariance with directions weighted as in least squares, and the cross-correlation of each
  ///     ear's target with the microphones, weighted likewise; nil above `highestLeastSquares`.
  ///   - axis: the array's responses straight ahead and straight behind, `[front, rear][microphone]`, and the
  ///     wanted sum of both ears' energies there.
  ///   - noiseGainLimit: power ratio above which noise gain is penalised.
  /// - Returns: `[ear][microphone]`.
  func weights(
    from starts: [[Complex]], previous: [Complex], nearness: Double, bin: Int, frequency: Double,
    covariance: BinCovariance, sectorCovariances: [Complex],
    leastSquares: (covariance: BinCovariance, correlation: [Complex])?,
    axis: (responses: [Complex], wanted: [Double]), noiseGainLimit: Double,
    step: DesignStep = .unobserved
  ) throws(DesignError) -> [Complex] {
    let corner = parameters.crossCorner.value
    let meanEnergy = floors[bin] / parameters.floor
    let fallen = parameters.crossWeight * pow(corner / frequency, parameters.crossDecay)
    var wanted = BinauralCost.Target(
      energies: targetEnergies[bin], crossSpectra: targetCrossSpectra[bin],
      axis: axis.responses, axisEnergies: axis.wanted,
      frontBackWeight: parameters.frontBackWeight * min(1, corner / frequency), floor: floors[bin],
      noiseGainLimit: noiseGainLimit,
      crossWeight: min(max(fallen, parameters.highCrossWeight), parameters.crossWeight), previous: previous)
    wanted.smoothness = nearness * parameters.smoothness
    if let leastSquares {
      wanted.leastSquaresWeight =
        parameters.leastSquaresWeight
        * min(max((parameters.highestLeastSquares.value - frequency) / corner, 0), 1)
        / max(meanEnergy, 1e-30)
      wanted.leastSquaresCovariance = leastSquares.covariance.values
      wanted.leastSquaresCorrelation = leastSquares.correlation
    }
    var cost = BinauralCost(
      covariance: covariance.values, sectorCovariances: sectorCovariances,
      importance: frequency < corner ? sectors.importance.low : sectors.importance.high,
      target: wanted, parameters: parameters)
    let solver = DampedNewton(iterations: parameters.iterations)
    var points: [[Double]] = []
    for start in starts {
      points.append(
        try solver.minimise(from: start.flatMap { [$0.real, $0.imaginary] }) {
          point, gradient, hessian throws(DesignError) in
          try step.check()
          return cost.evaluate(point, &gradient, &hessian)
        })
    }
    var (gradient, hessian) = (points[0], [Double](repeating: 0, count: points[0].count * points[0].count))
    let best =
      points.count == 1
      ? points[0]
      : points.min { cost.evaluate($0, &gradient, &hessian) < cost.evaluate($1, &gradient, &hessian) }!
    return (0..<best.count / 2).map { Complex(best[2 * $0], best[2 * $0 + 1]) }
  }
}
