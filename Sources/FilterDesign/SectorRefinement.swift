import Acoustics
import CLapack
import Glibc
import Numerics

/// Stereo weights above the crossover, where only levels matter: minimises `SectorCost` in each bin, starting from the
/// weights of the bin below.
///
/// Magnitude least squares alone gets stuck in a local minimum. The refinement brings the interaural level difference
/// 2 dB closer to the target.
package struct SectorRefinement: Sendable {
  private let parameters: DesignParameters.Refinement
  let sectors: Sectors
  /// Target ear responses, `[frequency][ear][direction]`.
  private let target: ResponseGrid
  /// Energies of the target: `[frequency][sector][ear]`, flat within each frequency.
  private let targetEnergies: [[Double]]
  /// Lowest energy that matters at each frequency: a fraction of the target's mean over all directions and both ears.
  private let floors: [Double]

  /// - Parameters:
  ///   - target: target ear responses, `[frequency][ear][direction]`.
  ///   - directions: unit vectors of the head frame.
  ///   - importance: what each direction counts, mean 1; nil if all count the same.
  package init(
    target: ResponseGrid, directions: [SIMD3<Double>], parameters: DesignParameters.Refinement = .init(),
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
  }

  /// Minimises the cost of one bin.
  /// - Parameters:
  ///   - start: initial weights, `[ear][microphone]`.
  ///   - bin: index into the target's frequencies.
  ///   - match: the array's responses in that bin.
  ///   - noiseGainLimit: power ratio above which noise gain is penalised.
  ///   - isFirst: whether `start` comes from complex least squares, which takes more iterations.
  /// - Returns: `[ear][microphone]`.
  func refined(
    _ start: [Complex], bin: Int, _ match: BinMatching, noiseGainLimit: Double, isFirst: Bool,
    step: DesignStep = .unobserved
  ) throws(DesignError) -> [Complex] {
    let size = 2 * match.directions
    var cost = SectorCost(
      match, sectors: sectors, covariances: sectorCovariances(match), targetEnergies: targetEnergies[bin],
      target: Array(target.values[bin * size..<(bin + 1) * size]), floor: floors[bin],
      noiseGainLimit: noiseGainLimit, parameters: parameters)
    let solver = DampedNewton(iterations: isFirst ? parameters.firstIterations : parameters.iterations)
    let point = try solver.minimise(from: start.flatMap { [$0.real, $0.imaginary] }) {
      point, gradient, hessian throws(DesignError) in
      try step.check()
      return cost.evaluate(point, &gradient, &hessian)
    }
    return (0..<start.count).map { Complex(point[2 * $0], point[2 * $0 + 1]) }
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
          result[(s * microphones + m) * microphones + n] = value
          result[(s * microphones + n) * microphones + m] = value.conjugate
          row += 2
        }
      }
    }
    return result
  }
}
