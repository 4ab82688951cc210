import Acoustics
import CLapack
import Glibc
import Numerics

/// The cost that `SectorRefinement` minimises in one bin, with its gradient and Hessian. The terms are:
///
/// - for each sector, the squared errors of both ears' log energies and, with a larger weight, of their difference, the
///   interaural level difference;
/// - for each ear, the squared log excess of noise gain above its limit;
/// - for each ear, with a small weight, the coherence with the target, which is subtracted.
///
/// Levels alone do not determine the weights. A line or a ring in the free field, for example, is point-symmetric:
/// conjugate weights at the mirrored microphones give the same levels. Two such minima can merge and separate again
/// from bin to bin, and rounding would decide which of them the refinement follows. With the coherence it follows the
/// one whose phases are closer to the target's.
///
/// A point is the weights as real numbers, `[ear][microphone](real, imaginary)`.
struct SectorCost {
  private let parameters: DesignParameters.Refinement
  private let microphones: Int
  private let sectors: Sectors
  /// Covariance R_s of each sector, `[sector][row][column]`: the mean output energy over the sector is wᴴ R_s w.
  private let sectorCovariances: [Complex]
  /// Covariance R over all directions, `[row][column]`.
  private let covariance: [Complex]
  /// Log energies of the target, `[sector][ear]`.
  private let logTargets: [Double]
  private let floor: Double
  private let noiseGainLimit: Double
  /// Cross-correlation V* t / directions of each ear's target, divided by the target's RMS value: `[ear][microphone]`.
  private let correlations: [Complex]

  /// R_s·w: `[ear][sector][microphone]`.
  private var products: [Complex]
  /// Energies wᴴ R_s w: `[sector][ear]`.
  private var energies: [Double]
  /// Derivatives of the cost with respect to each energy: `[sector][ear]`.
  private var slopes: [Double]
  /// The Hermitian form A of one ear whose terms wᴴ A w contribute 2·A to the Hessian, `[row][column]`.
  private var hermitianForm: [Complex]

  /// - Parameters:
  ///   - covariances: of the sectors, `[sector][row][column]`.
  ///   - targetEnergies: `[sector][ear]`.
  ///   - target: target ear responses, `[ear][direction]`.
  ///   - floor: added to all energies, so that errors of much lower energies do not matter.
  ///   - noiseGainLimit: power ratio above which noise gain is penalised.
  init(
    _ match: BinMatching, sectors: Sectors, covariances: [Complex], targetEnergies: [Double],
    target: [Complex], floor: Double, noiseGainLimit: Double, parameters: DesignParameters.Refinement
  ) {
    self.parameters = parameters
    microphones = match.microphones
    self.sectors = sectors
    sectorCovariances = covariances
    covariance = match.covariance
    logTargets = targetEnergies.map { log($0 + floor) }
    self.floor = floor
    self.noiseGainLimit = noiseGainLimit
    let directions = match.directions
    correlations = match.correlation(with: target, outputs: 2).enumerated().flatMap { ear, correlation in
      let energy = mean(target[ear * directions..<(ear + 1) * directions].map(\.squaredMagnitude))
      return match.covarianceEigen.combine(correlation).map { (1 / max(energy, 1e-30).squareRoot()) * $0 }
    }
    products = [Complex](repeating: .zero, count: 2 * sectors.count * microphones)
    energies = [Double](repeating: 0, count: 2 * sectors.count)
    slopes = energies
    hermitianForm = [Complex](repeating: .zero, count: microphones * microphones)
  }

  /// Evaluates the cost at `point`.
  /// - Parameter hessian: row-major; only the upper triangle is valid.
  mutating func evaluate(_ point: [Double], _ gradient: inout [Double], _ hessian: inout [Double]) -> Double {
    for j in gradient.indices { gradient[j] = 0 }
    for j in hessian.indices { hessian[j] = 0 }
    var value = 0.0
    point.withUnsafeBytes { bytes in
      let weights = bytes.bindMemory(to: Complex.self).baseAddress!
      gradient.withUnsafeMutableBufferPointer { gradient in
        hessian.withUnsafeMutableBufferPointer { hessian in
          updateEnergies(weights)
          value = addLevelErrors(gradient.baseAddress!, hessian.baseAddress!)
          for ear in 0..<2 {
            value += addNoiseAndCoherence(
              weights + ear * microphones, ear: ear, gradient.baseAddress!, hessian.baseAddress!)
          }
        }
      }
    }
    return value
  }

  /// Computes `products` and `energies`.
  private mutating func updateEnergies(_ weights: UnsafePointer<Complex>) {
    let count = microphones
    var one = Complex.one
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, 2, Int32(sectors.count * count), Int32(count), &one, weights,
      Int32(count), sectorCovariances, Int32(count), &zero, &products, Int32(sectors.count * count))
    for ear in 0..<2 {
      for s in 0..<sectors.count {
        var energy = 0.0
        for m in 0..<count {
          let (weight, product) = (weights[ear * count + m], products[(ear * sectors.count + s) * count + m])
          energy += weight.real * product.real + weight.imaginary * product.imaginary
        }
        energies[2 * s + ear] = max(energy, 0)
      }
    }
  }

  /// Returns the cost of the errors of levels and level differences, and adds its derivatives.
  private mutating func addLevelErrors(
    _ gradient: UnsafeMutablePointer<Double>, _ hessian: UnsafeMutablePointer<Double>
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
          let left = log(energies[2 * s] + floor) - logTargets[2 * s]
          let right = log(energies[2 * s + 1] + floor) - logTargets[2 * s + 1]
          let difference = differenceWeight * (left - right)
          value += importance * (left * left + right * right + difference * (left - right))
          let own = 2 * importance * (1 + differenceWeight)
          for ear in 0..<2 {
            // The gradient of a log energy is 2·R_s·w divided by the energy.
            let scale = 2 / (energies[2 * s + ear] + floor)
            let slope = 2 * importance * (ear == 0 ? left + difference : right - difference)
            let start = (ear * sectors.count + s) * size
            slopes[2 * s + ear] = slope * scale / 2
            for j in 0..<size {
              gradient[ear * size + j] += slope * scale * rows[start + j]
              scaled[start + j] = (own - slope) * scale * scale * rows[start + j]
            }
          }
        }
        addProducts(scaled, rows, to: hessian)
        addProducts(scaled + right, rows + right, to: hessian + size * (2 * size + 1))
        for s in 0..<sectors.count {
          let factor =
            -8 * sectors.importance[s] * differenceWeight
            / ((energies[2 * s] + floor) * (energies[2 * s + 1] + floor))
          for j in s * size..<(s + 1) * size { scaled[j] = factor * rows[j] }
        }
        addProducts(scaled, rows + right, to: hessian + size)
      }
    }
    self.slopes = slopes
    return value
  }

  /// Adds Σ a·bᵀ over the sectors to a block of the Hessian.
  /// - Parameters:
  ///   - a: `[sector][2 × microphone]`, as is `b`.
  ///   - block: the block's first element.
  private func addProducts(
    _ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>, to block: UnsafeMutablePointer<Double>
  ) {
    let size = Int32(2 * microphones)
    cblas_dgemm(
      CblasRowMajor, CblasTrans, CblasNoTrans, size, size, Int32(sectors.count), 1, a, size, b, size, 1,
      block,
      2 * size)
  }

  /// Returns the cost of one ear's noise gain and coherence, and adds its derivatives. It also adds the part of the
  /// level errors' Hessian that is a Hermitian form, which `addLevelErrors` leaves out.
  private mutating func addNoiseAndCoherence(
    _ weights: UnsafePointer<Complex>, ear: Int, _ gradient: UnsafeMutablePointer<Double>,
    _ hessian: UnsafeMutablePointer<Double>
  ) -> Double {
    let count = microphones
    sumSectorForms(ear: ear)
    var product = [Complex](repeating: .zero, count: count)
    var (noise, signal) = (0.0, 1e-12)
    var correlation = Complex.zero
    for m in 0..<count {
      for n in 0..<count { product[m] += covariance[m * count + n] * weights[n] }
      noise += weights[m].squaredMagnitude
      signal += weights[m].real * product[m].real + weights[m].imaginary * product[m].imaginary
      correlation += correlations[ear * count + m].conjugate * weights[m]
    }
    var value = 0.0
    // Each slope is half a gradient: of the log signal energy, of the log noise energy, of the log noise gain (their
    // difference), and of the coherence.
    let signalSlope = product.map { (1 / signal) * $0 }
    if noise > noiseGainLimit * signal {
      let excess = log(noise / (signal * noiseGainLimit))
      value += parameters.noiseWeight * excess * excess
      let noiseSlope = (0..<count).map { (1 / noise) * weights[$0] }
      let slope = (0..<count).map { noiseSlope[$0] - signalSlope[$0] }
      let factor = 2 * parameters.noiseWeight
      add(2 * factor * excess, slope, ear, to: gradient)
      addProduct(4 * factor, slope, slope, ear, to: hessian)
      addProduct(-4 * factor * excess, noiseSlope, noiseSlope, ear, to: hessian)
      addProduct(4 * factor * excess, signalSlope, signalSlope, ear, to: hessian)
      for m in 0..<count {
        hermitianForm[m * count + m] += Complex(factor * excess / noise, 0)
        for n in 0..<count {
          hermitianForm[m * count + n] += -factor * excess / signal * covariance[m * count + n]
        }
      }
    }
    let coherence = correlation.squaredMagnitude / signal
    let factor = parameters.coherenceWeight
    value -= factor * coherence
    let slope = (0..<count).map {
      (1 / signal) * (correlations[ear * count + $0] * correlation) - coherence * signalSlope[$0]
    }
    add(-2 * factor, slope, ear, to: gradient)
    addProduct(4 * factor, slope, signalSlope, ear, to: hessian)
    addProduct(4 * factor, signalSlope, slope, ear, to: hessian)
    for m in 0..<count {
      for n in 0..<count {
        hermitianForm[m * count + n] +=
          factor / signal
          * (coherence * covariance[m * count + n] - correlations[ear * count + m]
            * correlations[ear * count + n].conjugate)
      }
    }
    addHermitianForm(ear, to: hessian)
    // Rotating all phases of one ear leaves the cost unchanged. Artificial stiffness in that direction keeps the
    // Hessian definite.
    let rotation = (0..<count).map { Complex(-weights[$0].imaginary, weights[$0].real) }
    let offset = 2 * count * ear
    let stiffness = (offset..<offset + 2 * count).reduce(0) { $0 + abs(hessian[$1 * (4 * count + 1)]) }
    addProduct(stiffness / (Double(2 * count) * max(noise, 1e-30)), rotation, rotation, ear, to: hessian)
    return value
  }

  /// Sets `hermitianForm` to that of one ear's level errors: Σ slope · R_s over the sectors.
  private mutating func sumSectorForms(ear: Int) {
    let size = Int32(2 * microphones * microphones)
    sectorCovariances.withUnsafeBytes { covariances in
      hermitianForm.withUnsafeMutableBytes { form in
        slopes.withUnsafeBufferPointer { slopes in
          cblas_dgemv(
            CblasRowMajor, CblasTrans, Int32(sectors.count), size, 1,
            covariances.bindMemory(to: Double.self).baseAddress!, size, slopes.baseAddress! + ear, 2, 0,
            form.bindMemory(to: Double.self).baseAddress!, 1)
        }
      }
    }
  }

  /// Adds `factor` · `slope` to one ear's part of the gradient.
  private func add(
    _ factor: Double, _ slope: [Complex], _ ear: Int, to gradient: UnsafeMutablePointer<Double>
  ) {
    for (m, value) in slope.enumerated() {
      gradient[2 * (ear * microphones + m)] += factor * value.real
      gradient[2 * (ear * microphones + m) + 1] += factor * value.imaginary
    }
  }

  /// Adds 2·`hermitianForm`, as a real matrix, to one ear's block of the Hessian.
  private func addHermitianForm(_ ear: Int, to hessian: UnsafeMutablePointer<Double>) {
    let count = microphones
    let start = hessian + 2 * count * ear * (4 * count + 1)
    for m in 0..<count {
      for n in m..<count {
        let value = hermitianForm[m * count + n]
        let block = start + 8 * m * count + 2 * n
        block[0] += 2 * value.real
        block[1] -= 2 * value.imaginary
        block[4 * count] += 2 * value.imaginary
        block[4 * count + 1] += 2 * value.real
      }
    }
  }

  /// Adds `factor`·a·bᵀ to one ear's block of the Hessian.
  private func addProduct(
    _ factor: Double, _ a: [Complex], _ b: [Complex], _ ear: Int, to hessian: UnsafeMutablePointer<Double>
  ) {
    let size = 2 * microphones
    a.withUnsafeBytes { a in
      b.withUnsafeBytes { b in
        let (a, b) = (a.bindMemory(to: Double.self), b.bindMemory(to: Double.self))
        for i in 0..<size {
          let row = hessian + (ear * size + i) * 2 * size + ear * size
          let scaled = factor * a[i]
          for j in i..<size { row[j] += scaled * b[j] }
        }
      }
    }
  }
}
