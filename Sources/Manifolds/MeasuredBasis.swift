import Acoustics
import Numerics

/// The functions that interpolate between measured directions.
enum MeasuredBasis {
  /// Spherical harmonics up to an order.
  case sphere(order: Int)
  /// For a measurement in the horizontal plane only: cos mφ and sin mφ of the azimuth φ, up to an order. Off the plane
  /// they fade with the m-th power of the elevation's cosine, as the spherical harmonics of degree and order m do: above
  /// and below, the mean over all azimuths remains.
  case circle(order: Int)

  /// - Parameter isCircle: whether all directions lie in the horizontal plane.
  init(directions: Int, isCircle: Bool, parameters: DesignParameters.Measured) {
    let functions = parameters.harmonicsPerDirection * Double(directions)
    self =
      isCircle
      ? .circle(order: max(0, min(parameters.highestOrder, (Int(functions) - 1) / 2)))
      : .sphere(order: max(0, min(parameters.highestOrder, Int(functions.squareRoot()) - 1)))
  }

  var count: Int {
    switch self {
    case .sphere(let order): (order + 1) * (order + 1)
    case .circle(let order): 2 * order + 1
    }
  }

  /// The functions at unit vectors of the device frame: `[direction][function]`.
  func values(at directions: [SIMD3<Double>]) -> [Double] {
    switch self {
    case .sphere(let order): return realSphericalHarmonics(order: order, at: directions)
    case .circle(let order):
      return directions.flatMap { u -> [Double] in
        let root = 2.0.squareRoot()
        // (cos el · e^(jφ))^m
        let step = Complex(u.z, u.x)
        var power = Complex.one
        var values = [1.0]
        for _ in 0..<order {
          power *= step
          values += [root * power.real, root * power.imaginary]
        }
        return values
      }
    }
  }

  /// In which planes of symmetry each function is odd: bit a is set if it changes its sign with that of coordinate a.
  var parities: [Int] {
    switch self {
    case .sphere(let order):
      return (0...order).flatMap { l in
        (-l...l).map { m in
          let isSine = m < 0
          return (isSine == m.isMultiple(of: 2) ? 1 : 0) + (isSine ? 2 : 0)
            + ((l + m).isMultiple(of: 2) ? 0 : 4)
        }
      }
    case .circle(let order):
      return [0] + (1..<order + 1).flatMap { m in m.isMultiple(of: 2) ? [0, 5] : [4, 1] }
    }
  }

  /// The matrix from values in the measured directions to coefficients: `[function][direction]`.
  func analysis(
    _ directions: [SIMD3<Double>], shares: [Double], file: String, parameters: DesignParameters.Measured
  ) throws(DesignError) -> [Double] {
    func penalty(_ l: Int) -> Double {
      parameters.roughness * (parameters.roughnessOfMean + Double(l * l * (l + 1) * (l + 1)))
    }
    switch self {
    case .sphere(let order):
      return try harmonicAnalysis(directions, shares: shares, order: order, file: file, penalty: penalty)
    case .circle(let order):
      let penalties = [penalty(0)] + (0..<order).flatMap { [penalty($0 + 1), penalty($0 + 1)] }
      return try regularisedFit(values(at: directions), shares: shares, penalties: penalties, file: file)
    }
  }
}
