import Acoustics
import CLapack
import Foundation
import Numerics

/// Refines stereo weights above the crossover, where only levels matter: per bin it minimises `SectorCost`. The bin below
/// is where each bin starts.
///
/// Magnitude least squares alone gets stuck: refined, the level difference is 2 dB nearer to the target.
package struct SectorRefinement: Sendable {
  private let parameters: DesignParameters.Refinement
  let sectors: Sectors
  /// What the ears should hear, `[frequency][ear][direction]`.
  private let target: ResponseGrid
  /// Energy of the target: `[frequency][sector][ear]`, and its mean over all directions and ears.
  private let energies: [[Double]]
  private let floors: [Double]

  /// - Parameter target: what the ears should hear, `[frequency][ear][direction]`.
  package init(
    target: ResponseGrid, directions: [SIMD3<Double>], parameters: DesignParameters.Refinement = .init()
  ) {
    self.parameters = parameters
    let sectors = Sectors(directions: directions, parameters: parameters)
    self.sectors = sectors
    self.target = target
    let size = 2 * directions.count
    var floors: [Double] = []
    energies = (0..<target.frequencies).map { f in
      let squares = target.values[f * size..<(f + 1) * size].map(\.squaredMagnitude)
      floors.append(parameters.floor * mean(squares))
      return sectors.means(of: squares, count: 2)
    }
    self.floors = floors
  }

  /// - Parameters:
  ///   - start: weights of one bin, `[ear][microphone]`.
  ///   - bin: index into the target's frequencies.
  ///   - match: that bin of the array manifold.
  ///   - noiseGainLimit: power ratio above which noise gain is punished.
  ///   - isFirst: whether `start` comes from another design, and needs more iterations.
  func refined(
    _ start: [Complex], bin: Int, _ match: BinMatching, noiseGainLimit: Double, isFirst: Bool,
    step: DesignStep = .unobserved
  ) throws(DesignError) -> [Complex] {
    let size = 2 * match.directions
    var cost = SectorCost(
      match, sectors: sectors, matrices: sectorMatrices(match), energies: energies[bin],
      target: Array(target.values[bin * size..<(bin + 1) * size]), floor: floors[bin],
      noiseGainLimit: noiseGainLimit, parameters: parameters)
    let solver = DampedNewton(iterations: isFirst ? parameters.firstIterations : parameters.iterations)
    let point = try solver.minimise(from: start.flatMap { [$0.real, $0.imaginary] }) {
      point, gradient, curvature throws(DesignError) in
      try step.check()
      return cost.evaluate(point, &gradient, &curvature)
    }
    return (0..<start.count).map { Complex(point[2 * $0], point[2 * $0 + 1]) }
  }

  /// Mean of conj(V) Vᵀ over each sector: `[sector][row][column]`.
  private func sectorMatrices(_ match: BinMatching) -> [Complex] {
    let (microphones, directions) = (match.microphones, match.directions)
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
      var at = s * rows
      for m in 0..<microphones {
        for n in m..<microphones {
          let value = Complex(means[at], means[at + 1])
          result[(s * microphones + m) * microphones + n] = value
          result[(s * microphones + n) * microphones + m] = value.conjugate
          at += 2
        }
      }
    }
    return result
  }
}
