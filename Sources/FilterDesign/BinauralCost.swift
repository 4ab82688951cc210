import Acoustics
import CLapack
import Glibc
import Numerics

/// The cost of both ears' weights in one bin, with its gradient and Hessian. The terms are:
///
/// - for each sector, the squared errors of both ears' log energies and of their difference, the interaural level
///   difference;
/// - the squared error of the log ratio of both ears' energy from straight ahead to that from straight behind;
/// - for each sector, the squared error of the normalised interaural cross-spectrum, whose phase is the interaural time
///   difference and whose magnitude is the coherence; the phase that both ears share stays free;
/// - for each ear, the squared log excess of noise gain above its limit;
/// - for each ear, with a weight that fades out over frequency, the error of complex least squares;
/// - the squared distance from the weights of the bin below.
///
/// A point is the weights as real numbers, `[ear][microphone](real, imaginary)`.
package struct BinauralCost {
  let parameters: DesignParameters.Joint
  let microphones: Int
  private let importance: [Double]
  let target: Target
  /// Covariance R_s of each sector, `[sector][row][column]`: the mean output energy over the sector is wᴴ R_s w.
  private let sectorCovariances: [Complex]
  /// Covariance R over all directions, `[row][column]`.
  let covariance: [Complex]
  private let logTargets: [Double]

  /// R_s·w: `[ear][sector][microphone]`.
  private var products: [Complex]
  /// Energies wᴴ R_s w: `[sector][ear]`.
  private var energies: [Double]
  /// Cross-energies w_rᴴ R_s w_l: `[sector]`.
  private var crossEnergies: [Complex]
  /// Factors of the forms between the ears, `[sector]`.
  private var crossForms: [Complex]
  /// Factors of the Hessian, `[factor][sector][row][ear][microphone](real, imaginary)`.
  private var rows: [Double]
  /// Derivatives of the cost with respect to each energy: `[sector][ear]`.
  private var slopes: [Double]
  /// Derivatives of the cost with respect to both ears' energies straight ahead and straight behind.
  var axisSlopes: [Double] = [0, 0]
  /// The Hermitian form A of one ear whose terms wᴴ A w contribute 2·A to the Hessian, `[row][column]`.
  var hermitianForm: [Complex]

  /// - Parameters:
  ///   - covariance: over all directions, `[row][column]`.
  ///   - sectorCovariances: `[sector][row][column]`.
  ///   - importance: weight of each sector; the sum is 1.
  package init(
    covariance: [Complex], sectorCovariances: [Complex], importance: [Double], target: Target,
    parameters: DesignParameters.Joint
  ) {
    self.parameters = parameters
    let sectors = importance.count
    microphones = Int(Double(covariance.count).squareRoot())
    self.importance = importance
    self.target = target
    self.sectorCovariances = sectorCovariances
    self.covariance = covariance
    logTargets = target.energies.map { log($0 + target.floor) }
    products = [Complex](repeating: .zero, count: 2 * sectors * microphones)
    energies = [Double](repeating: 0, count: 2 * sectors)
    slopes = energies
    crossEnergies = [Complex](repeating: .zero, count: sectors)
    crossForms = crossEnergies
    rows = [Double](repeating: 0, count: 2 * 5 * sectors * 4 * microphones)
    hermitianForm = [Complex](repeating: .zero, count: microphones * microphones)
  }

  /// Evaluates the cost at `point`.
  /// - Parameter hessian: row-major; only the upper triangle is valid.
  package mutating func evaluate(_ point: [Double], _ gradient: inout [Double], _ hessian: inout [Double])
    -> Double
  {
    for j in gradient.indices { gradient[j] = 0 }
    for j in hessian.indices { hessian[j] = 0 }
    var value = 0.0
    point.withUnsafeBytes { bytes in
      let weights = bytes.bindMemory(to: Complex.self).baseAddress!
      gradient.withUnsafeMutableBufferPointer { gradient in
        hessian.withUnsafeMutableBufferPointer { hessian in
          let (gradient, hessian) = (gradient.baseAddress!, hessian.baseAddress!)
          updateEnergies(weights)
          value = addSectorErrors(gradient, hessian) + addFrontBackError(weights, gradient, hessian)
          for ear in 0..<2 {
            sumSectorForms(ear: ear)
            addAxisForms()
            let own = weights + ear * microphones
            value += addNoise(own, ear: ear, gradient, hessian)
            value += addLeastSquares(own, ear: ear, gradient)
            addHermitianForm(ear, to: hessian)
          }
          value += addRoughness(weights, gradient, hessian)
        }
      }
    }
    return value
  }

  /// Computes `products`, `energies` and `crossEnergies`.
  private mutating func updateEnergies(_ weights: UnsafePointer<Complex>) {
    let count = microphones
    var one = Complex.one
    var zero = Complex.zero
    cblas_zgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, 2, Int32(importance.count * count), Int32(count), &one,
      weights,
      Int32(count), sectorCovariances, Int32(count), &zero, &products, Int32(importance.count * count))
    for ear in 0..<2 {
      for s in 0..<importance.count {
        var energy = 0.0
        for m in 0..<count {
          let (weight, product) = (
            weights[ear * count + m], products[(ear * importance.count + s) * count + m]
          )
          energy += weight.real * product.real + weight.imaginary * product.imaginary
        }
        energies[2 * s + ear] = max(energy, 0)
      }
    }
    for s in 0..<importance.count {
      var sum = Complex.zero
      for m in 0..<count { sum += weights[count + m].conjugate * products[s * count + m] }
      crossEnergies[s] = sum
    }
  }

  /// Returns the cost of the errors of levels, level differences and cross-spectra, and adds its derivatives, but for
  /// the Hermitian forms of each ear.
  ///
  /// The variables are the log energies λ of both ears and the cross-energy X; the cross-spectrum is
  /// c = X·exp(−(λ_l + λ_r)/2). With the rows q of λ's derivatives, p of those of Re(ē·X)·exp(−(λ_l + λ_r)/2) where e is
  /// c's error, and J of c's, the Hessian of |e|² is 2·(Jᴴ J − (p qᵀ + q pᵀ)/2 + Re(ē·c)·q qᵀ/4), q being the sum of both
  /// ears', and forms in R_s. The Hessian of a log energy is 2·R_s/energy − q qᵀ, q being its own ear's.
  private mutating func addSectorErrors(
    _ gradient: UnsafeMutablePointer<Double>, _ hessian: UnsafeMutablePointer<Double>
  ) -> Double {
    let (size, count) = (2 * microphones, importance.count)
    let width = 2 * size
    var value = 0.0
    let (differenceWeight, levelWeight) = (parameters.differenceWeight, parameters.levelWeight)
    let own = 2 * (levelWeight + differenceWeight)
    products.withUnsafeBytes { products in
      rows.withUnsafeMutableBufferPointer { rows in
        let products = products.bindMemory(to: Double.self).baseAddress!
        // Five rows per sector, which are multiplied with five others: J's real and imaginary part, q of each ear, p.
        let left = rows.baseAddress!
        let right = left + 5 * count * width
        for s in 0..<count {
          let weight = importance[s]
          let energy = SIMD2(energies[2 * s] + target.floor, energies[2 * s + 1] + target.floor)
          let level = SIMD2(log(energy[0]) - logTargets[2 * s], log(energy[1]) - logTargets[2 * s + 1])
          let difference = differenceWeight * (level[0] - level[1])
          let scale = 1 / (energy[0] * energy[1]).squareRoot()
          let cross = scale * crossEnergies[s]
          let error = cross - target.crossSpectra[s]
          let crossFactor = target.crossWeight * weight
          let curvature = crossFactor * (error.real * cross.real + error.imaginary * cross.imaginary)
          value +=
            weight * (levelWeight * (level * level).sum() + difference * (level[0] - level[1]))
            + crossFactor * error.squaredMagnitude
          crossForms[s] = (crossFactor * scale) * error.conjugate
          let slope = SIMD2(
            2 * weight * (levelWeight * level[0] + difference) - curvature,
            2 * weight * (levelWeight * level[1] - difference) - curvature)
          let between = -2 * weight * differenceWeight + 0.5 * curvature
          let (a, b) = (left + 5 * s * width, right + 5 * s * width)
          for ear in 0..<2 {
            slopes[2 * s + ear] = slope[ear] / energy[ear]
            let within = weight * own - slope[ear] + 0.5 * curvature
            let direct = products + (ear * count + s) * size
            let other = products + ((1 - ear) * count + s) * size
            // The gradient of a log energy is 2·R_s·w divided by the energy.
            let logScale = 2 / energy[ear]
            let sign = ear == 0 ? scale : -scale
            for j in 0..<size {
              let k = ear * size + j
              let logSlope = logScale * direct[j]
              // Derivatives of X: of its real and of its imaginary part.
              let (x, y) = (scale * other[j], j & 1 == 0 ? -sign * other[j + 1] : sign * other[j - 1])
              let (re, im) = (x - 0.5 * cross.real * logSlope, y - 0.5 * cross.imaginary * logSlope)
              let product = crossFactor * (error.real * x + error.imaginary * y)
              gradient[k] += slope[ear] * logSlope + 2 * product
              (a[k], b[k]) = (2 * crossFactor * re, re)
              (a[width + k], b[width + k]) = (2 * crossFactor * im, im)
              let (ownRow, otherRow) = ((2 + ear) * width + k, (3 - ear) * width + k)
              (a[ownRow], b[ownRow]) = (within * logSlope - product, logSlope)
              (a[otherRow], b[otherRow]) = (between * logSlope - product, 0)
              (a[4 * width + k], b[4 * width + k]) = (-logSlope, product)
            }
          }
        }
        let order = Int32(width)
        cblas_dgemm(
          CblasRowMajor, CblasTrans, CblasNoTrans, order, order, Int32(5 * count), 1, left, order, right,
          order, 1,
          hessian, order)
      }
    }
    addCrossForm(to: hessian)
    return value
  }

  /// Adds the Hessian of the cross-energies' part that is a form between the ears: 4·Re(δ_rᴴ Σ factor·R_s δ_l).
  private func addCrossForm(to hessian: UnsafeMutablePointer<Double>) {
    let count = microphones
    var form = [Complex](repeating: .zero, count: count * count)
    var one = Complex.one
    var zero = Complex.zero
    cblas_zgemv(
      CblasRowMajor, CblasTrans, Int32(importance.count), Int32(count * count), &one, sectorCovariances,
      Int32(count * count), crossForms, 1, &zero, &form, 1)
    for m in 0..<count {
      for n in 0..<count {
        let value = form[m * count + n]
        let block = hessian + 2 * n * 4 * count + 2 * count + 2 * m
        block[0] += 2 * value.real
        block[1] += 2 * value.imaginary
        block[4 * count] -= 2 * value.imaginary
        block[4 * count + 1] += 2 * value.real
      }
    }
  }

  /// Sets `hermitianForm` to that of one ear's errors in the sectors: Σ slope · R_s.
  private mutating func sumSectorForms(ear: Int) {
    let size = Int32(2 * microphones * microphones)
    sectorCovariances.withUnsafeBytes { covariances in
      hermitianForm.withUnsafeMutableBytes { form in
        slopes.withUnsafeBufferPointer { slopes in
          cblas_dgemv(
            CblasRowMajor, CblasTrans, Int32(importance.count), size, 1,
            covariances.bindMemory(to: Double.self).baseAddress!, size, slopes.baseAddress! + ear, 2, 0,
            form.bindMemory(to: Double.self).baseAddress!, 1)
        }
      }
    }
  }

  /// Adds `factor` · `slope` to one ear's part of the gradient.
  func add(
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

  /// Adds `factor`·a·bᵀ, of vectors of real numbers, to the block that begins at `block`.
  func addProduct(
    _ factor: Double, _ a: [Complex], _ b: [Complex], to block: UnsafeMutablePointer<Double>
  ) {
    a.withUnsafeBytes { a in
      b.withUnsafeBytes { b in
        let (a, b) = (a.bindMemory(to: Double.self), b.bindMemory(to: Double.self))
        for i in a.indices {
          let row = block + i * 4 * microphones
          let scaled = factor * a[i]
          for j in i..<b.count { row[j] += scaled * b[j] }
        }
      }
    }
  }
}
