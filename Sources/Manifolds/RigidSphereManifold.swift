import Acoustics
import Numerics

/// Array manifold of microphones on a rigid sphere centred at the origin. Positions are projected onto its surface.
/// - Source: Duda and Martens, Range dependence of the response of a spherical head model, J. Acoust. Soc. Am.
///   104 (1998), for a source at infinity: p = Σ jⁿ (2n+1) Pₙ(cos θ) · (−j) / ((ka)² hₙ'(ka)), with the spherical
///   Hankel functions of the second kind hₙ.
package struct RigidSphereManifold: ArrayManifold {
  package let positions: [Position]
  package let radius: Double
  package var sphereRadius: Double? { radius }

  /// Lower limit of ka. Below it the sphere has practically no effect, and the series, which divides by (ka)², would
  /// lose precision.
  private static let smallestSize = 1e-3

  /// - Parameters:
  ///   - positions: in metres, none at the origin.
  ///   - radius: of the sphere, in metres.
  package init(positions: [Position], radius: Double) {
    self.positions = positions
    self.radius = radius
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    responses(from: directions, frequencies: frequencies, modes: modes(frequencies))
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    let modes = modes(frequencies)
    return try inBlocks(of: directions, frequencies: frequencies.count, step: step) {
      responses(from: $0, frequencies: frequencies, modes: modes)
    }
  }

  /// Mode strengths at `frequencies`, `[2 × frequency + (real, imaginary)][order]`, and the number of orders.
  private func modes(_ frequencies: [Double]) -> (values: [Double], orders: Int) {
    let sizes = frequencies.map { 2 * .pi * $0 / speedOfSound * radius }
    let orders = Int((sizes.max() ?? 0) * 1.15 + 12) + 2
    var modes = [Double](repeating: 0, count: 2 * frequencies.count * orders)
    for (f, size) in sizes.enumerated() {
      for (n, mode) in Self.modeStrengths(orders: orders, size: size).enumerated() {
        modes[2 * f * orders + n] = mode.real
        modes[(2 * f + 1) * orders + n] = mode.imaginary
      }
    }
    return (modes, orders)
  }

  private func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], modes: (values: [Double], orders: Int)
  ) -> ResponseGrid {
    let (points, orders) = (positions.count * directions.count, modes.orders)
    // Matrix product: [2 × frequency + (real, imaginary)][order] times [order][microphone, direction].
    let polynomials = legendre(orders: orders, directions: directions)
    var product = [Double](repeating: 0, count: 2 * min(Self.block, frequencies.count) * points)
    return ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count
    ) { values in
      for first in stride(from: 0, to: frequencies.count, by: Self.block) {
        let count = min(Self.block, frequencies.count - first)
        modes.values.withUnsafeBufferPointer {
          multiply(
            $0.baseAddress! + 2 * first * orders, polynomials, rows: 2 * count, inner: orders,
            columns: points,
            into: &product)
        }
        product.withUnsafeBufferPointer { product in
          for f in 0..<count {
            let (real, row) = (product.baseAddress! + 2 * f * points, values + (first + f) * points)
            for i in 0..<points { row[i] = Complex(real[i], real[points + i]) }
          }
        }
      }
    }
  }

  /// Frequencies at a time: few enough for the processor's cache.
  private static let block = 16

  /// Mode strengths jⁿ (2n+1) (−j) / ((ka)² hₙ'(ka)) for n = 0 ..< orders; zero if hₙ' overflows.
  /// - Parameter size: ka.
  package static func modeStrengths(orders: Int, size: Double) -> [Complex] {
    let size = max(size, smallestSize)
    let powers = [Complex(0, -1), Complex(1, 0), Complex(0, 1), Complex(-1, 0)]  // −j·jⁿ
    return sphericalHankelDerivatives(highestOrder: orders - 1, argument: size).enumerated().map { n, slope in
      let strength = (Double(2 * n + 1) / (size * size)) * (powers[n % 4] / slope)
      return strength.real.isFinite && strength.imaginary.isFinite ? strength : .zero
    }
  }

  /// Legendre polynomials of the cosine of the angle between microphone and source, by the three-term recurrence:
  /// `[order][microphone][direction]`.
  private func legendre(orders: Int, directions: [SIMD3<Double>]) -> [Double] {
    let cosines = positions.flatMap { position in
      let outward = position / position.length
      return directions.map { min(1, max(-1, $0.dot(outward))) }
    }
    let points = cosines.count
    var values = [Double](repeating: 1, count: orders * points)
    values.withUnsafeMutableBufferPointer { p in
      for i in 0..<points { p[points + i] = cosines[i] }
      for n in 1..<orders - 1 {
        let a = Double(2 * n + 1) / Double(n + 1)
        let b = Double(n) / Double(n + 1)
        for i in 0..<points {
          p[(n + 1) * points + i] = a * cosines[i] * p[n * points + i] - b * p[(n - 1) * points + i]
        }
      }
    }
    return values
  }
}

extension RigidSphere: BodyManifold {
  func manifold(for device: Device, step: DesignStep) -> any ArrayManifold {
    RigidSphereManifold(positions: device.microphones.map(\.position), radius: radius)
  }
}
