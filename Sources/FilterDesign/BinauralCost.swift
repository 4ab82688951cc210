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
  /// The upper triangles of the sectors' covariances, row by row: `[sector][pair](real, imaginary)`.
  private let pairs: [Double]
  /// Factors of the sectors' covariances in forms: derivatives of the cost with respect to each ear's energy, and the real
  /// and imaginary parts of the form between the ears: `[factor][sector]`.
  private var factors: [Double]
  /// Those forms, as `pairs` holds them: `[factor][pair](real, imaginary)`.
  private var forms: [Double]
  /// Factors of the Hessian's blocks: three rows of each ear for each sector, and those by which the rows are multiplied in
  /// the blocks of the left ear, of both and of the right: `[factor][sector][row][microphone](real, imaginary)`.
  private var rows: [Double]
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
    crossEnergies = [Complex](repeating: .zero, count: sectors)
    factors = [Double](repeating: 0, count: 4 * sectors)
    rows = [Double](repeating: 0, count: 5 * 3 * sectors * 2 * microphones)
    let count = microphones
    pairs = [Double](unsafeUninitializedCapacity: sectors * count * (count + 1)) { pairs, size in
      size = 0
      for matrix in 0..<sectors {
        for m in 0..<count {
          for n in m..<count {
            let value = sectorCovariances[(matrix * count + m) * count + n]
            (pairs[size], pairs[size + 1]) = (value.real, value.imaginary)
            size += 2
          }
        }
      }
    }
    forms = [Double](repeating: 0, count: 4 * count * (count + 1))
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
          value = addSectorErrors(gradient, hessian)
          sumForms()
          addCrossForm(to: hessian)
          value += addFrontBackError(weights, gradient, hessian)
          for ear in 0..<2 {
            setSectorForm(ear: ear)
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
    products.withUnsafeMutableBufferPointer { products in
      for ear in 0..<2 {
        cblas_zgemv(
          CblasRowMajor, CblasNoTrans, Int32(importance.count * count), Int32(count), &one, sectorCovariances,
          Int32(count), weights + ear * count, 1, &zero,
          products.baseAddress! + ear * importance.count * count, 1)
      }
    }
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
  /// the forms in the sectors' covariances.
  ///
  /// The variables are the log energies λ of both ears and the cross-energy X; the cross-spectrum is
  /// c = X·exp(−(λ_l + λ_r)/2). With the rows q of λ's derivatives, p of those of Re(ē·X)·exp(−(λ_l + λ_r)/2) where e is
  /// c's error, and J of c's, the Hessian of |e|² is 2·(Jᴴ J − (p qᵀ + q pᵀ)/2 + Re(ē·c)·q qᵀ/4), q being the sum of both
  /// ears', and forms in R_s. The Hessian of a log energy is 2·R_s/energy − q qᵀ, q being its own ear's. For each ear, all
  /// these rows are sums of three: x and y, the derivatives of X's real and imaginary part, and q.
  private mutating func addSectorErrors(
    _ gradient: UnsafeMutablePointer<Double>, _ hessian: UnsafeMutablePointer<Double>
  ) -> Double {
    let (size, count) = (2 * microphones, importance.count)
    let plane = 3 * count * size
    var value = 0.0
    let (differenceWeight, levelWeight) = (parameters.differenceWeight, parameters.levelWeight)
    let own = 2 * (levelWeight + differenceWeight)
    products.withUnsafeBytes { products in
      rows.withUnsafeMutableBufferPointer { rows in
        let products = products.bindMemory(to: Double.self).baseAddress!
        let rows = rows.baseAddress!
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
          let crossForm = (crossFactor * scale) * error.conjugate
          (factors[2 * count + s], factors[3 * count + s]) = (crossForm.real, crossForm.imaginary)
          let slope = SIMD2(
            2 * weight * (levelWeight * level[0] + difference) - curvature,
            2 * weight * (levelWeight * level[1] - difference) - curvature)
          let between = -2 * weight * differenceWeight + 0.5 * curvature
          // J is x − cross.real/2·q and y − cross.imaginary/2·q; p is crossFactor·(error.real·x + error.imaginary·y).
          let (alpha, beta) = (0.5 * cross.real, 0.5 * cross.imaginary)
          let double = 2 * crossFactor
          let (withX, withY) = (
            double * alpha + crossFactor * error.real, double * beta + crossFactor * error.imaginary
          )
          let squares = double * (alpha * alpha + beta * beta)
          for ear in 0..<2 {
            factors[ear * count + s] = slope[ear] / energy[ear]
            let within = squares + weight * own - slope[ear] + 0.5 * curvature
            let direct = products + (ear * count + s) * size
            let other = products + ((1 - ear) * count + s) * size
            // The gradient of a log energy is 2·R_s·w divided by the energy.
            let logScale = 2 / energy[ear]
            let sign = ear == 0 ? scale : -scale
            let first = rows + ear * plane + 3 * s * size
            let ownProduct = rows + (2 + ear) * plane + 3 * s * size
            let toRight = rows + 4 * plane + 3 * s * size
            let (a, b) = (slope[ear], 2 * crossFactor)
            for m in 0..<microphones {
              let (re, im) = (2 * m, 2 * m + 1)
              let (q0, q1) = (logScale * direct[re], logScale * direct[im])
              let (x0, x1) = (scale * other[re], scale * other[im])
              let (y0, y1) = (-sign * other[im], sign * other[re])
              let k = ear * size + re
              gradient[k] += a * q0 + b * (error.real * x0 + error.imaginary * y0)
              gradient[k + 1] += a * q1 + b * (error.real * x1 + error.imaginary * y1)
              (first[re], first[im]) = (x0, x1)
              (first[size + re], first[size + im]) = (y0, y1)
              (first[2 * size + re], first[2 * size + im]) = (q0, q1)
              ownProduct[re] = double * x0 - withX * q0
              ownProduct[im] = double * x1 - withX * q1
              ownProduct[size + re] = double * y0 - withY * q0
              ownProduct[size + im] = double * y1 - withY * q1
              ownProduct[2 * size + re] = within * q0 - withX * x0 - withY * y0
              ownProduct[2 * size + im] = within * q1 - withX * x1 - withY * y1
              guard ear == 1 else { continue }
              let mixed = squares + between
              toRight[re] = double * x0 - withX * q0
              toRight[im] = double * x1 - withX * q1
              toRight[size + re] = double * y0 - withY * q0
              toRight[size + im] = double * y1 - withY * q1
              toRight[2 * size + re] = mixed * q0 - withX * x0 - withY * y0
              toRight[2 * size + im] = mixed * q1 - withX * x1 - withY * y1
            }
          }
        }
        // The blocks of the left ear, between both, and of the right ear.
        for (left, right, block) in [(0, 2, 0), (0, 4, size), (1, 3, 2 * size * size + size)] {
          cblas_dgemm(
            CblasRowMajor, CblasTrans, CblasNoTrans, Int32(size), Int32(size), Int32(3 * count), 1,
            rows + left * plane, Int32(size), rows + right * plane, Int32(size), 1, hessian + block,
            Int32(2 * size))
        }
      }
    }
    return value
  }

  /// Computes `forms`: each factor times the covariances, summed over the sectors.
  private mutating func sumForms() {
    let width = Int32(microphones * (microphones + 1))
    let sectors = Int32(importance.count)
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, 4, width, sectors, 1, factors, sectors, pairs, width, 0,
      &forms, width)
  }

  /// Adds the Hessian of the cross-energies' part that is a form between the ears: 4·Re(δ_rᴴ Σ factor·R_s δ_l).
  private func addCrossForm(to hessian: UnsafeMutablePointer<Double>) {
    let count = microphones
    let width = count * (count + 1)
    var pair = 2 * width
    func add(_ value: Complex, _ m: Int, _ n: Int) {
      let block = hessian + 2 * n * 4 * count + 2 * count + 2 * m
      block[0] += 2 * value.real
      block[1] += 2 * value.imaginary
      block[4 * count] -= 2 * value.imaginary
      block[4 * count + 1] += 2 * value.real
    }
    for m in 0..<count {
      for n in m..<count {
        // Σ (a + jb)·R of both parts, each of which is Hermitian.
        let (a, b) = (
          Complex(forms[pair], forms[pair + 1]), Complex(forms[width + pair], forms[width + pair + 1])
        )
        add(a + Complex(-b.imaginary, b.real), m, n)
        if m != n { add(a.conjugate + Complex(b.imaginary, b.real), n, m) }
        pair += 2
      }
    }
  }

  /// Sets `hermitianForm` to that of one ear's errors in the sectors: Σ slope · R_s.
  private mutating func setSectorForm(ear: Int) {
    let count = microphones
    var pair = ear * count * (count + 1)
    for m in 0..<count {
      for n in m..<count {
        let value = Complex(forms[pair], forms[pair + 1])
        hermitianForm[m * count + n] = value
        hermitianForm[n * count + m] = value.conjugate
        pair += 2
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
