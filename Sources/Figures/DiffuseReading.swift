import Numerics

/// The responses of both ears to a diffuse field, frequency by frequency.
package struct DiffuseReading: Sendable {
  /// Mean energy of each ear, `[frequency]`.
  private(set) var left: [Double] = []
  private(set) var right: [Double] = []
  /// Mean cross-spectrum left × right*, `[frequency]`.
  private(set) var cross: [Complex] = []

  package init() {}

  /// Adds the next frequency.
  /// - Parameters:
  ///   - left, right: responses to plane waves spread evenly over the sphere.
  mutating func add(_ left: UnsafeBufferPointer<Complex>, _ right: UnsafeBufferPointer<Complex>) {
    var (l, r, c) = (0.0, 0.0, Complex.zero)
    for d in left.indices {
      l += left[d].squaredMagnitude
      r += right[d].squaredMagnitude
      c += left[d] * right[d].conjugate
    }
    let scale = 1 / Double(left.count)
    self.left.append(scale * l)
    self.right.append(scale * r)
    cross.append(scale * c)
  }

  /// Of responses `[frequency][ear][direction]`, whose directions are spread evenly over the sphere.
  init(_ responses: ResponseGrid) {
    self.init()
    let size = responses.directions
    responses.values.withUnsafeBufferPointer { values in
      for f in 0..<responses.frequencies {
        add(
          UnsafeBufferPointer(rebasing: values[2 * f * size..<(2 * f + 1) * size]),
          UnsafeBufferPointer(rebasing: values[(2 * f + 1) * size..<(2 * f + 2) * size]))
      }
    }
  }

  /// Energy of both ears, `[frequency]`.
  var energy: [Double] { zip(left, right).map { $0 + $1 } }

  /// Interaural coherence over `bins`: the magnitude of the mean cross-spectrum relative to the mean energies.
  func coherence(_ bins: [Int]) -> Double {
    let sum = bins.reduce(Complex.zero) { $0 + cross[$1] }
    let energies = bins.reduce((1e-30, 1e-30)) { ($0.0 + left[$1], $0.1 + right[$1]) }
    return sum.magnitude / (energies.0 * energies.1).squareRoot()
  }
}
