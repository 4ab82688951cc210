import Glibc
import Numerics

/// The terms of the cost that are not errors of sectors: front over rear, noise, least squares and roughness.
extension BinauralCost {
  /// Returns the cost of the ratio of front to rear, and adds its derivatives, but for the forms of each ear.
  mutating func addFrontBackError(
    _ weights: UnsafePointer<Complex>, _ gradient: UnsafeMutablePointer<Double>,
    _ hessian: UnsafeMutablePointer<Double>
  ) -> Double {
    let (count, factor) = (microphones, target.frontBackWeight)
    var axisEnergies = [2 * target.floor, 2 * target.floor]
    // Half the gradients of the log energies ahead and behind.
    var halfSlopes = [[Complex]](repeating: [], count: 2)
    for side in 0..<2 {
      let responses = target.axis[side * count..<(side + 1) * count]
      for ear in 0..<2 {
        let sum = zip(0..<count, responses).reduce(Complex.zero) { $0 + $1.1 * weights[ear * count + $1.0] }
        axisEnergies[side] += sum.squaredMagnitude
        halfSlopes[side] += responses.map { $0.conjugate * sum }
      }
      halfSlopes[side] = halfSlopes[side].map { (1 / axisEnergies[side]) * $0 }
    }
    let wanted = target.axisEnergies.map { $0 + 2 * target.floor }
    let error = log(axisEnergies[0] / axisEnergies[1] * wanted[1] / wanted[0])
    let both = zip(halfSlopes[0], halfSlopes[1]).map { $0 - $1 }
    for (m, value) in both.enumerated() {
      gradient[2 * m] += 4 * factor * error * value.real
      gradient[2 * m + 1] += 4 * factor * error * value.imaginary
    }
    addProduct(8 * factor, both, both, to: hessian)
    for (side, sign) in [(0, 1.0), (1, -1)] {
      addProduct(-8 * sign * factor * error, halfSlopes[side], halfSlopes[side], to: hessian)
      axisSlopes[side] = 2 * sign * factor * error / axisEnergies[side]
    }
    return factor * error * error
  }

  /// Adds the forms of the ratio of front to rear to `hermitianForm`; they are the same for both ears.
  mutating func addAxisForms() {
    for (side, slope) in axisSlopes.enumerated() {
      let responses = target.axis[side * microphones..<(side + 1) * microphones]
      for (m, a) in responses.enumerated() {
        for (n, b) in responses.enumerated() {
          hermitianForm[m * microphones + n] += slope * (a.conjugate * b)
        }
      }
    }
  }

  /// Returns the cost of one ear's noise gain, and adds its derivatives.
  mutating func addNoise(
    _ weights: UnsafePointer<Complex>, ear: Int, _ gradient: UnsafeMutablePointer<Double>,
    _ hessian: UnsafeMutablePointer<Double>
  ) -> Double {
    let count = microphones
    var product = [Complex](repeating: .zero, count: count)
    var (noise, signal) = (0.0, 1e-12)
    for m in 0..<count {
      for n in 0..<count { product[m] += covariance[m * count + n] * weights[n] }
      noise += weights[m].squaredMagnitude
      signal += weights[m].real * product[m].real + weights[m].imaginary * product[m].imaginary
    }
    guard noise > target.noiseGainLimit * signal else { return 0 }
    // Each slope is half a gradient: of the log signal energy, of the log noise energy, and of the log noise gain, their
    // difference.
    let signalSlope = product.map { (1 / signal) * $0 }
    let excess = log(noise / (signal * target.noiseGainLimit))
    let noiseSlope = (0..<count).map { (1 / noise) * weights[$0] }
    let slope = (0..<count).map { noiseSlope[$0] - signalSlope[$0] }
    let factor = 2 * parameters.noiseWeight
    add(2 * factor * excess, slope, ear, to: gradient)
    let block = hessian + 2 * count * ear * (4 * count + 1)
    addProduct(4 * factor, slope, slope, to: block)
    addProduct(-4 * factor * excess, noiseSlope, noiseSlope, to: block)
    addProduct(4 * factor * excess, signalSlope, signalSlope, to: block)
    for m in 0..<count {
      hermitianForm[m * count + m] += Complex(factor * excess / noise, 0)
      for n in 0..<count {
        hermitianForm[m * count + n] += -factor * excess / signal * covariance[m * count + n]
      }
    }
    return parameters.noiseWeight * excess * excess
  }

  /// Returns the cost of one ear's error of least squares, less the target's energy, and adds its derivatives.
  mutating func addLeastSquares(
    _ weights: UnsafePointer<Complex>, ear: Int, _ gradient: UnsafeMutablePointer<Double>
  ) -> Double {
    let count = microphones
    let factor = target.leastSquaresWeight
    guard factor > 0 else { return 0 }
    var slope = [Complex](repeating: .zero, count: count)
    var value = 0.0
    for m in 0..<count {
      for n in 0..<count { slope[m] += target.leastSquaresCovariance[m * count + n] * weights[n] }
      let wanted = target.leastSquaresCorrelation[ear * count + m]
      let sum = slope[m] - wanted - wanted
      value += weights[m].real * sum.real + weights[m].imaginary * sum.imaginary
      slope[m] = slope[m] - wanted
    }
    add(2 * factor, slope, ear, to: gradient)
    for j in hermitianForm.indices { hermitianForm[j] += factor * target.leastSquaresCovariance[j] }
    return factor * value
  }

  /// Returns the cost of the distance from the bin below, and adds its derivatives.
  func addRoughness(
    _ weights: UnsafePointer<Complex>, _ gradient: UnsafeMutablePointer<Double>,
    _ hessian: UnsafeMutablePointer<Double>
  ) -> Double {
    guard !target.previous.isEmpty else { return 0 }
    let factor = target.smoothness / max(target.previous.reduce(0) { $0 + $1.squaredMagnitude }, 1e-12)
    var value = 0.0
    for (j, previous) in target.previous.enumerated() {
      let change = weights[j] - previous
      value += factor * change.squaredMagnitude
      gradient[2 * j] += 2 * factor * change.real
      gradient[2 * j + 1] += 2 * factor * change.imaginary
    }
    for j in 0..<4 * microphones { hessian[j * (4 * microphones + 1)] += 2 * factor }
    return value
  }
}
