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
  /// Target ear responses, `[frequency][ear][direction]`.
  private let target: ResponseGrid
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
    self.target = target
    let size = 2 * directions.count
    var floors: [Double] = []
    targetEnergies = (0..<target.frequencies).map { f in
      let squares = target.values[f * size..<(f + 1) * size].map(\.squaredMagnitude)
      floors.append(parameters.floor * mean(squares))
      return sectors.means(of: squares, count: 2)
    }
    self.floors = floors
    let energies = targetEnergies
    targetCrossSpectra = (0..<target.frequencies).map { f in
      let ears = target.values[f * size..<(f + 1) * size]
      let count = directions.count
      let products = (0..<count).map { ears[f * size + $0] * ears[f * size + count + $0].conjugate }
      let sums = sectors.means(of: products.map(\.real) + products.map(\.imaginary), count: 2)
      return (0..<sectors.count).map { s in
        let energy = (energies[f][2 * s] + floors[f]) * (energies[f][2 * s + 1] + floors[f])
        return (1 / energy.squareRoot()) * Complex(sums[2 * s], sums[2 * s + 1])
      }
    }
  }

  /// Minimises the cost of one bin.
  /// - Parameters:
  ///   - starts: initial weights, each `[ear][microphone]`, of which the one that ends best counts.
  ///   - previous: weights to stay near to: those of the bin below, or of this bin for a pose beside.
  ///   - nearness: how much that counts; 1 for the bin below.
  ///   - bin: index into the target's frequencies.
  ///   - frequency: of the bin, in hertz.
  ///   - match: the array's responses in that bin.
  ///   - weighted: the same with directions weighted as in least squares, and their amplitudes; nil above
  ///     `highestLeastSquares`.
  ///   - axis: the array's responses straight ahead and straight behind, `[front, rear][microphone]`, and the
  ///     wanted sum of both ears' energies there.
  ///   - noiseGainLimit: power ratio above which noise gain is penalised.
  /// - Returns: `[ear][microphone]`.
  func weights(
    from starts: [[Complex]], previous: [Complex], nearness: Double, bin: Int, frequency: Double,
    _ match: BinMatching,
    weighted: (match: BinMatching, amplitudes: [Double])?, axis: (responses: [Complex], wanted: [Double]),
    noiseGainLimit: Double,
    step: DesignStep = .unobserved
  ) throws(DesignError) -> [Complex] {
    let size = 2 * match.directions
    let ears = target.values[bin * size..<(bin + 1) * size]
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
    if let weighted {
      wanted.leastSquaresWeight =
        parameters.leastSquaresWeight
        * min(max((parameters.highestLeastSquares.value - frequency) / corner, 0), 1)
        / max(meanEnergy, 1e-30)
      wanted.leastSquaresCovariance = weighted.match.covariance
      let amplitudes = weighted.amplitudes
      let wantedEars = ears.enumerated().map { amplitudes[$0 % amplitudes.count] * $1 }
      wanted.leastSquaresCorrelation = weighted.match.correlation(with: wantedEars, outputs: 2).flatMap {
        weighted.match.covarianceEigen.combine($0)
      }
    }
    var cost = BinauralCost(
      covariance: match.covariance, sectorCovariances: sectorCovariances(match),
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

  /// Covariance of each sector, the weighted mean of V* Vᵀ over its directions: `[sector][row][column]`.
  private func sectorCovariances(_ match: BinMatching) -> [Complex] {
    let (microphones, directions) = (match.microphones, match.directions)
    // Real and imaginary parts of the upper triangle, as rows over the directions.
    var products: [Double] = []
    products.reserveCapacity(microphones * (microphones + 1) * directions)
    for m in 0..<microphones {
      let a = match.responses + m * directions
      for n in m..<microphones {
        let b = match.responses + n * directions
        for d in 0..<directions { products.append(a[d].real * b[d].real + a[d].imaginary * b[d].imaginary) }
        for d in 0..<directions { products.append(a[d].real * b[d].imaginary - a[d].imaginary * b[d].real) }
      }
    }
    let rows = microphones * (microphones + 1)
    let means = sectors.means(of: products, count: rows)
    var result = [Complex](repeating: .zero, count: sectors.count * microphones * microphones)
    for s in 0..<sectors.count {
      var row = s * rows
      for m in 0..<microphones {
        for n in m..<microphones {
          let value = Complex(means[row], means[row + 1])
          result[(s * microphones + m) * microphones + n] =
            m == n ? (1 + parameters.robustness) * value : value
          if m != n { result[(s * microphones + n) * microphones + m] = value.conjugate }
          row += 2
        }
      }
    }
    return result
  }
}
