import CLapack
import Foundation

/// Refines stereo weights above 1.5 kHz, where only levels matter: per bin it lowers the error of each
/// sector's log energy at both ears, four times the error of its interaural level difference, and the log
/// excess of noise gain; the bin below is where each bin starts.
///
/// Magnitude least squares alone gets stuck: refined, the level difference is 2 dB nearer to the target.
package struct SectorRefinement: Sendable {
  static let differenceWeight = 4.0
  static let noiseWeight = 50.0
  static let iterations = 40
  static let firstIterations = 200
  /// Energies below this part of the target's mean count as nothing.
  static let floor = 1e-2

  let sectors: Sectors
  /// Energy of the target: `[frequency][sector][ear]`, and its mean over all directions and ears.
  private let energies: [[Double]]
  private let floors: [Double]

  /// - Parameter target: what the ears should hear, `[frequency][ear][direction]`.
  package init(target: ResponseGrid, directions: [SIMD3<Double>]) {
    let sectors = Sectors(directions: directions)
    self.sectors = sectors
    let size = 2 * directions.count
    var floors: [Double] = []
    energies = (0..<target.frequencies).map { f in
      let squares = target.values[f * size..<(f + 1) * size].map(\.squaredMagnitude)
      floors.append(Self.floor * mean(squares))
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
    let microphones = match.microphones
    var problem = Problem(
      microphones: microphones, sectors: sectors, matrices: sectorMatrices(match), energy: match.energyMatrix,
      targets: energies[bin], floor: floors[bin], noiseGainLimit: noiseGainLimit)
    let solver = LimitedMemoryBFGS(iterations: isFirst ? Self.firstIterations : Self.iterations)
    let point = try solver.minimise(from: start.flatMap { [$0.real, $0.imaginary] }) {
      point, gradient throws(DesignError) in
      try step.check()
      return problem.evaluate(point, &gradient)
    }
    return (0..<2 * microphones).map { Complex(point[2 * $0], point[2 * $0 + 1]) }
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

/// The function that one bin's refinement minimises.
private struct Problem {
  let microphones: Int
  let sectors: Sectors
  let matrices: [Complex]
  let energy: [Complex]
  let logTargets: [Double]
  let floor: Double
  let noiseGainLimit: Double
  /// R_s·w of each sector: `[sector][microphone]`.
  private var products: [Complex]
  private var levels: [Double]

  init(
    microphones: Int, sectors: Sectors, matrices: [Complex], energy: [Complex], targets: [Double],
    floor: Double,
    noiseGainLimit: Double
  ) {
    self.microphones = microphones
    self.sectors = sectors
    self.matrices = matrices
    self.energy = energy
    self.floor = floor
    self.noiseGainLimit = noiseGainLimit
    logTargets = targets.map { log($0 + floor) }
    products = [Complex](repeating: .zero, count: 2 * sectors.count * microphones)
    levels = [Double](repeating: 0, count: 2 * sectors.count)
  }

  /// - Parameter point: weights `[ear][microphone](real, imaginary)`; the gradient has the same shape.
  mutating func evaluate(_ point: [Double], _ gradient: inout [Double]) -> Double {
    let count = microphones
    var value = 0.0
    for j in gradient.indices { gradient[j] = 0 }
    point.withUnsafeBytes { bytes in
      let weights = bytes.bindMemory(to: Complex.self).baseAddress!
      gradient.withUnsafeMutableBytes { bytes in
        let slopes = bytes.bindMemory(to: Complex.self).baseAddress!
        for ear in 0..<2 { measure(weights + ear * count, ear: ear) }
        value = compare(into: slopes)
        for ear in 0..<2 { value += restrain(weights + ear * count, into: slopes + ear * count) }
      }
    }
    return value
  }

  /// Fills in the products and energies of one ear.
  private mutating func measure(_ weights: UnsafePointer<Complex>, ear: Int) {
    let count = microphones
    products.withUnsafeMutableBufferPointer { products in
      matrices.withUnsafeBufferPointer { matrices in
        for s in 0..<sectors.count {
          var power = 0.0
          for m in 0..<count {
            let row = (s * count + m) * count
            var sum = Complex.zero
            for n in 0..<count { sum += matrices[row + n] * weights[n] }
            products[(ear * sectors.count + s) * count + m] = sum
            power += weights[m].real * sum.real + weights[m].imaginary * sum.imaginary
          }
          levels[2 * s + ear] = max(power, 0)
        }
      }
    }
  }

  /// Level and level-difference errors of all sectors; adds their gradient.
  private func compare(into slopes: UnsafeMutablePointer<Complex>) -> Double {
    let count = microphones
    var value = 0.0
    for s in 0..<sectors.count {
      let importance = sectors.importance[s]
      let left = log(levels[2 * s] + floor) - logTargets[2 * s]
      let right = log(levels[2 * s + 1] + floor) - logTargets[2 * s + 1]
      let difference = SectorRefinement.differenceWeight * (left - right)
      value += importance * (left * left + right * right + difference * (left - right))
      let factors = [
        4 * importance * (left + difference) / (levels[2 * s] + floor),
        4 * importance * (right - difference) / (levels[2 * s + 1] + floor),
      ]
      for ear in 0..<2 {
        for m in 0..<count {
          slopes[ear * count + m] += factors[ear] * products[(ear * sectors.count + s) * count + m]
        }
      }
    }
    return value
  }

  /// The penalty on one ear's noise gain above the limit; adds its gradient.
  private func restrain(_ weights: UnsafePointer<Complex>, into slopes: UnsafeMutablePointer<Complex>)
    -> Double
  {
    let count = microphones
    var noise = 0.0
    var signal = 1e-12
    var product = [Complex](repeating: .zero, count: count)
    for m in 0..<count {
      for n in 0..<count { product[m] += energy[m * count + n] * weights[n] }
      noise += weights[m].squaredMagnitude
      signal += weights[m].real * product[m].real + weights[m].imaginary * product[m].imaginary
    }
    guard noise > 0, noise > noiseGainLimit * signal else { return 0 }
    let excess = log(noise / (signal * noiseGainLimit))
    let factor = 4 * SectorRefinement.noiseWeight * excess
    for m in 0..<count { slopes[m] += factor * ((1 / noise) * weights[m] - (1 / signal) * product[m]) }
    return SectorRefinement.noiseWeight * excess * excess
  }
}
