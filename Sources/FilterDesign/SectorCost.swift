import Acoustics
import CLapack
import Foundation
import Numerics

/// The function that the refinement of one bin minimises, with its first and second derivatives: per sector the squared
/// error of both ears' log energies, and several times that of the interaural level difference; the squared log excess
/// of noise gain above its limit; and a little of what the phases miss of the target's.
///
/// Levels alone do not determine the weights. For microphones in the free field that are their own mirror image in a
/// point (a line, a ring), weights and their conjugates at the mirrored microphones reach the same levels. From one bin
/// to the next two such minima merge and part again, and without the last term rounding would decide which one follows.
/// With it the one whose phases are more like the target's does.
///
/// Points are weights `[ear][microphone](real, imaginary)`.
struct SectorCost {
  private let parameters: DesignParameters.Refinement
  private let microphones: Int
  private let sectors: Sectors
  /// R_s of each sector, and R of all directions: wᴴ R w is the energy that weights pick up.
  private let matrices: [Complex]
  private let energy: [Complex]
  private let logTargets: [Double]
  private let floor: Double
  private let noiseGainLimit: Double
  /// V* t / directions of each ear's target, over the root of the target's energy: `[ear][microphone]`.
  private let correlations: [Complex]

  /// R_s·w: `[ear][sector][microphone]`; and wᴴ R_s w: `[sector][ear]`.
  private var products: [Complex]
  private var levels: [Double]
  /// Derivatives of the cost by each energy: `[sector][ear]`.
  private var slopes: [Double]
  /// One ear's second derivatives as far as they are those of a form wᴴ A w: A/2, `[row][column]`.
  private var form: [Complex]

  /// - Parameters:
  ///   - matrices: `[sector][row][column]`.
  ///   - energies: of the target, `[sector][ear]`.
  ///   - target: `[ear][direction]`.
  ///   - floor: energies below it count as nothing.
  ///   - noiseGainLimit: power ratio above which noise gain is punished.
  init(
    _ match: BinMatching, sectors: Sectors, matrices: [Complex], energies: [Double], target: [Complex],
    floor: Double, noiseGainLimit: Double, parameters: DesignParameters.Refinement
  ) {
    self.parameters = parameters
    microphones = match.microphones
    self.sectors = sectors
    self.matrices = matrices
    energy = match.energyMatrix
    logTargets = energies.map { log($0 + floor) }
    self.floor = floor
    self.noiseGainLimit = noiseGainLimit
    let directions = match.directions
    correlations = match.correlation(with: target, outputs: 2).enumerated().flatMap { ear, correlation in
      let energy = mean(target[ear * directions..<(ear + 1) * directions].map(\.squaredMagnitude))
      return match.energy.combine(correlation).map { (1 / max(energy, 1e-30).squareRoot()) * $0 }
    }
    products = [Complex](repeating: .zero, count: 2 * sectors.count * microphones)
    levels = [Double](repeating: 0, count: 2 * sectors.count)
    slopes = levels
    form = [Complex](repeating: .zero, count: microphones * microphones)
  }

  /// - Parameter curvature: the second derivatives; of the matrix, row by row, the upper triangle is written.
  mutating func evaluate(_ point: [Double], _ gradient: inout [Double], _ curvature: inout [Double]) -> Double
  {
    for j in gradient.indices { gradient[j] = 0 }
    for j in curvature.indices { curvature[j] = 0 }
    var value = 0.0
    point.withUnsafeBytes { bytes in
      let weights = bytes.bindMemory(to: Complex.self).baseAddress!
      gradient.withUnsafeMutableBufferPointer { gradient in
        curvature.withUnsafeMutableBufferPointer { curvature in
          measure(weights)
          value = compareLevels(gradient.baseAddress!, curvature.baseAddress!)
          for ear in 0..<2 {
            value += restrain(
              weights + ear * microphones, ear: ear, gradient.baseAddress!, curvature.baseAddress!)
          }
        }
      }
    }
    return value
  }

  /// Fills in the products and energies.
  private mutating func measure(_ weights: UnsafePointer<Complex>) {
    let count = microphones
    var one = Complex.one
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, 2, Int32(sectors.count * count), Int32(count), &one, weights,
      Int32(count), matrices, Int32(count), &zero, &products, Int32(sectors.count * count))
    for ear in 0..<2 {
      for s in 0..<sectors.count {
        var power = 0.0
        for m in 0..<count {
          let (weight, product) = (weights[ear * count + m], products[(ear * sectors.count + s) * count + m])
          power += weight.real * product.real + weight.imaginary * product.imaginary
        }
        levels[2 * s + ear] = max(power, 0)
      }
    }
  }

  /// The errors of levels and level differences; adds their derivatives.
  private mutating func compareLevels(
    _ gradient: UnsafeMutablePointer<Double>, _ curvature: UnsafeMutablePointer<Double>
  ) -> Double {
    let size = 2 * microphones
    let right = sectors.count * size
    var value = 0.0
    let products = products
    let differenceWeight = parameters.differenceWeight
    var slopes = [Double](repeating: 0, count: 2 * sectors.count)
    var scaled = [Double](repeating: 0, count: 2 * right)
    products.withUnsafeBytes { bytes in
      let rows = bytes.bindMemory(to: Double.self).baseAddress!
      scaled.withUnsafeMutableBufferPointer { buffer in
        let scaled = buffer.baseAddress!
        for s in 0..<sectors.count {
          let importance = sectors.importance[s]
          let left = log(levels[2 * s] + floor) - logTargets[2 * s]
          let right = log(levels[2 * s + 1] + floor) - logTargets[2 * s + 1]
          let difference = differenceWeight * (left - right)
          value += importance * (left * left + right * right + difference * (left - right))
          let own = 2 * importance * (1 + differenceWeight)
          for ear in 0..<2 {
            // A log energy's derivative is 2·R_s·w over the energy.
            let scale = 2 / (levels[2 * s + ear] + floor)
            let slope = 2 * importance * (ear == 0 ? left + difference : right - difference)
            let start = (ear * sectors.count + s) * size
            slopes[2 * s + ear] = slope * scale / 2
            for j in 0..<size {
              gradient[ear * size + j] += slope * scale * rows[start + j]
              scaled[start + j] = (own - slope) * scale * scale * rows[start + j]
            }
          }
        }
        addProducts(scaled, rows, to: curvature)
        addProducts(scaled + right, rows + right, to: curvature + size * (2 * size + 1))
        for s in 0..<sectors.count {
          let factor =
            -8 * sectors.importance[s] * differenceWeight
            / ((levels[2 * s] + floor) * (levels[2 * s + 1] + floor))
          for j in s * size..<(s + 1) * size { scaled[j] = factor * rows[j] }
        }
        addProducts(scaled, rows + right, to: curvature + size)
      }
    }
    self.slopes = slopes
    return value
  }

  /// Adds Σ a·bᵀ over the sectors to a block of the second derivatives; `a` and `b` shape `[sector][2 × microphone]`.
  private func addProducts(
    _ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>, to block: UnsafeMutablePointer<Double>
  ) {
    let size = Int32(2 * microphones)
    cblas_dgemm(
      CblasRowMajor, CblasTrans, CblasNoTrans, size, size, Int32(sectors.count), 1, a, size, b, size, 1,
      block,
      2 * size)
  }

  /// One ear's noise gain above the limit, and its coherence with the target; adds their derivatives, and those of the
  /// levels that are a form's.
  private mutating func restrain(
    _ weights: UnsafePointer<Complex>, ear: Int, _ gradient: UnsafeMutablePointer<Double>,
    _ curvature: UnsafeMutablePointer<Double>
  ) -> Double {
    let count = microphones
    sumSectors(ear: ear)
    var product = [Complex](repeating: .zero, count: count)
    var (noise, signal) = (0.0, 1e-12)
    var correlation = Complex.zero
    for m in 0..<count {
      for n in 0..<count { product[m] += energy[m * count + n] * weights[n] }
      noise += weights[m].squaredMagnitude
      signal += weights[m].real * product[m].real + weights[m].imaginary * product[m].imaginary
      correlation += correlations[ear * count + m].conjugate * weights[m]
    }
    var value = 0.0
    // Half the derivatives of log noise gain, and of the coherence.
    let signalSlope = product.map { (1 / signal) * $0 }
    if noise > noiseGainLimit * signal {
      let excess = log(noise / (signal * noiseGainLimit))
      value += parameters.noiseWeight * excess * excess
      let noiseSlope = (0..<count).map { (1 / noise) * weights[$0] }
      let slope = (0..<count).map { noiseSlope[$0] - signalSlope[$0] }
      let factor = 2 * parameters.noiseWeight
      add(2 * factor * excess, slope, ear, to: gradient)
      addProduct(4 * factor, slope, slope, ear, to: curvature)
      addProduct(-4 * factor * excess, noiseSlope, noiseSlope, ear, to: curvature)
      addProduct(4 * factor * excess, signalSlope, signalSlope, ear, to: curvature)
      for m in 0..<count {
        form[m * count + m] += Complex(factor * excess / noise, 0)
        for n in 0..<count { form[m * count + n] += -factor * excess / signal * energy[m * count + n] }
      }
    }
    let coherence = correlation.squaredMagnitude / signal
    let factor = parameters.coherenceWeight
    value -= factor * coherence
    let slope = (0..<count).map {
      (1 / signal) * (correlations[ear * count + $0] * correlation) - coherence * signalSlope[$0]
    }
    add(-2 * factor, slope, ear, to: gradient)
    addProduct(4 * factor, slope, signalSlope, ear, to: curvature)
    addProduct(4 * factor, signalSlope, slope, ear, to: curvature)
    for m in 0..<count {
      for n in 0..<count {
        form[m * count + n] +=
          factor / signal
          * (coherence * energy[m * count + n] - correlations[ear * count + m]
            * correlations[ear * count + n].conjugate)
      }
    }
    addForm(ear, to: curvature)
    // Turning all phases of an ear changes nothing: made stiff, no step does it.
    let turn = (0..<count).map { Complex(-weights[$0].imaginary, weights[$0].real) }
    let offset = 2 * count * ear
    let stiffness = (offset..<offset + 2 * count).reduce(0) { $0 + abs(curvature[$1 * (4 * count + 1)]) }
    addProduct(stiffness / (Double(2 * count) * max(noise, 1e-30)), turn, turn, ear, to: curvature)
    return value
  }

  /// The form of one ear's levels: Σ slope · R_s over the sectors.
  private mutating func sumSectors(ear: Int) {
    let size = Int32(2 * microphones * microphones)
    matrices.withUnsafeBytes { matrices in
      form.withUnsafeMutableBytes { form in
        slopes.withUnsafeBufferPointer { slopes in
          cblas_dgemv(
            CblasRowMajor, CblasTrans, Int32(sectors.count), size, 1,
            matrices.bindMemory(to: Double.self).baseAddress!, size, slopes.baseAddress! + ear, 2, 0,
            form.bindMemory(to: Double.self).baseAddress!, 1)
        }
      }
    }
  }

  private func add(
    _ factor: Double, _ slope: [Complex], _ ear: Int, to gradient: UnsafeMutablePointer<Double>
  ) {
    for (m, value) in slope.enumerated() {
      gradient[2 * (ear * microphones + m)] += factor * value.real
      gradient[2 * (ear * microphones + m) + 1] += factor * value.imaginary
    }
  }

  /// Adds the real form of 2·`form` for one ear.
  private func addForm(_ ear: Int, to curvature: UnsafeMutablePointer<Double>) {
    let count = microphones
    let start = curvature + 2 * count * ear * (4 * count + 1)
    for m in 0..<count {
      for n in m..<count {
        let value = form[m * count + n]
        let at = start + 8 * m * count + 2 * n
        at[0] += 2 * value.real
        at[1] -= 2 * value.imaginary
        at[4 * count] += 2 * value.imaginary
        at[4 * count + 1] += 2 * value.real
      }
    }
  }

  /// Adds `factor`·a·bᵀ to one ear's second derivatives.
  private func addProduct(
    _ factor: Double, _ a: [Complex], _ b: [Complex], _ ear: Int, to curvature: UnsafeMutablePointer<Double>
  ) {
    let size = 2 * microphones
    a.withUnsafeBytes { a in
      b.withUnsafeBytes { b in
        let (a, b) = (a.bindMemory(to: Double.self), b.bindMemory(to: Double.self))
        for i in 0..<size {
          let row = curvature + (ear * size + i) * 2 * size + ear * size
          let scaled = factor * a[i]
          for j in i..<size { row[j] += scaled * b[j] }
        }
      }
    }
  }
}
