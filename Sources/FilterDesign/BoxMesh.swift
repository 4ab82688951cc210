import Acoustics
import Foundation

/// Rectangular panels on the positive octant of a box around the origin; three mirrors make the rest.
///
/// Panels are narrower towards the edges of the box, where the pressure bends most.
struct BoxMesh: Sendable {
  struct Panel: Sendable {
    /// The axis of its normal, which points outwards.
    let axis: Int
    let centre: Position
    /// Half the edge lengths along the two axes that follow `axis` in turn.
    let half: SIMD2<Double>
  }

  /// Edge lengths of the whole box in metres.
  let size: SIMD3<Double>
  let panels: [Panel]
  /// Points inside the octant at which the pressure has to vanish: they tell true solutions from the
  /// resonances of the box's interior.
  let interior: [Position]

  /// No octant has more panels than this: they are made wider instead.
  static let mostPanels = 800
  private static let interiorCount = 16
  /// How far the panels at the edges are squeezed: 0 leaves all alike.
  private static let squeeze = 0.6

  /// - Parameters:
  ///   - size: edge lengths in metres.
  ///   - width: mean width of the panels in metres.
  init(size: SIMD3<Double>, width: Double) {
    self.size = size
    let half = size / 2
    var width = width
    var panels = Self.panels(half: half, width: width)
    while panels.count > Self.mostPanels {
      width *= 1.05
      panels = Self.panels(half: half, width: width)
    }
    self.panels = panels
    interior = (0..<Self.interiorCount).map { i in
      let n = Double(i) + 0.5
      // A sequence of low discrepancy, by the powers of the root of x⁴ = x + 1 (Roberts, 2018).
      let spread = SIMD3(n * 0.8191725133961645, n * 0.6710436067037893, n * 0.5497004779019703)
      let fraction = spread - spread.rounded(.down)
      return half * (0.1 + 0.75 * fraction)
    }
  }

  /// The lowest resonance of the interior with a surface of no pressure: there the plain equation has no
  /// unique solution.
  var firstResonance: Double {
    speedOfSound / 2 * (1 / (size * size)).sum().squareRoot()
  }

  private static func panels(half: SIMD3<Double>, width: Double) -> [Panel] {
    (0..<3).flatMap { axis in
      let (first, second) = ((axis + 1) % 3, (axis + 2) % 3)
      let (a, b) = (edges(half[first], width: width), edges(half[second], width: width))
      return (1..<a.count).flatMap { i in
        (1..<b.count).map { j in
          var centre = Position.zero
          centre[axis] = half[axis]
          centre[first] = (a[i - 1] + a[i]) / 2
          centre[second] = (b[j - 1] + b[j]) / 2
          return Panel(axis: axis, centre: centre, half: [(a[i] - a[i - 1]) / 2, (b[j] - b[j - 1]) / 2])
        }
      }
    }
  }

  /// From the mirror at 0 to the edge of the box at `length`.
  private static func edges(_ length: Double, width: Double) -> [Double] {
    let count = max(3, Int((length / width).rounded(.up)))
    return (0...count).map { i in
      let part = Double(i) / Double(count)
      return i == count ? length : length * ((1 - squeeze) * part + squeeze * sin(.pi / 2 * part))
    }
  }
}
