import Acoustics
import Glibc
import Numerics

/// Array manifold of microphones on a rigid cylinder without ends, whose axis is the device's y axis. Positions are
/// projected onto its surface.
/// - Source: Morse and Ingard, Theoretical Acoustics (1968), section 8.1, for a wave that also travels along the axis:
///   p = e^(jk d·y) Σ εₘ jᵐ cos(mφ) · (−2j) / (πx Hₘ'(x)), x = ka cos(elevation), with the Hankel functions of the second
///   kind Hₘ; ε₀ = 1, all others 2.
package struct RigidCylinderManifold: ArrayManifold {
  package let positions: [Position]
  /// In metres.
  package let radius: Double

  /// Lower limit of x. Below it the cylinder has practically no effect.
  private static let smallestSize = 1e-6

  /// - Parameters:
  ///   - positions: in metres, none on the axis.
  ///   - radius: of the cylinder, in metres.
  package init(positions: [Position], radius: Double) {
    self.positions = positions
    self.radius = radius
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    var grid = ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count)
    let outward = positions.map { SIMD3($0.x, 0, $0.z) / SIMD3($0.x, 0, $0.z).length }
    for (d, direction) in directions.enumerated() {
      let across = max(0, 1 - direction.y * direction.y).squareRoot()
      let cosines = outward.map { across > 1e-9 ? min(1, max(-1, direction.dot($0) / across)) : 1 }
      for (f, frequency) in frequencies.enumerated() {
        let wavenumber = 2 * .pi * frequency / speedOfSound
        let strengths = Self.modeStrengths(size: max(wavenumber * radius * across, Self.smallestSize))
        for (m, position) in positions.enumerated() {
          let along = Complex(phase: wavenumber * direction.y * position.y)
          grid[f, m, d] = along * Self.sum(strengths, cosine: cosines[m])
        }
      }
    }
    return grid
  }

  /// Mode strengths εₘ jᵐ (−2j) / (πx Hₘ'(x)) until they vanish.
  /// - Parameter size: x.
  private static func modeStrengths(size x: Double) -> [Complex] {
    let orders = Int(x * 1.15) + 18
    // The upward recurrence preserves the relative accuracy of H, because H grows like Y.
    var hankel = [Complex(j0(x), -y0(x)), Complex(j1(x), -y1(x))]
    for m in 1..<orders {
      let next = (Double(2 * m) / x) * hankel[m] - hankel[m - 1]
      guard next.real.isFinite, next.imaginary.isFinite else { break }
      hankel.append(next)
    }
    let powers = [Complex(0, -1), Complex(1, 0), Complex(0, 1), Complex(-1, 0)]  // −j·jᵐ
    return (0..<hankel.count - 1).map { m in
      let slope = m == 0 ? -1 * hankel[1] : hankel[m - 1] - (Double(m) / x) * hankel[m]
      let strength = ((m == 0 ? 2 : 4) / (.pi * x)) * (powers[m % 4] / slope)
      return strength.real.isFinite && strength.imaginary.isFinite ? strength : .zero
    }
  }

  /// Σ strengths[m] cos(mφ), by the recurrence of the cosines.
  private static func sum(_ strengths: [Complex], cosine: Double) -> Complex {
    var (last, current) = (cosine, 1.0)
    var sum = Complex.zero
    for strength in strengths {
      sum += current * strength
      (last, current) = (current, 2 * cosine * current - last)
    }
    return sum
  }
}

extension RigidCylinder: BodyManifold {
  func manifold(for device: Device, step: DesignStep) -> any ArrayManifold {
    RigidCylinderManifold(positions: device.microphones.map(\.position), radius: radius)
  }
}
