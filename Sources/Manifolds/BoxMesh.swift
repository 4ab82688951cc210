import Acoustics
import Glibc

/// Rectangular panels on the positive octant of a box centred at the origin. Mirror symmetry covers the other octants.
///
/// Panels are narrower towards the edges of the box, where the pressure varies fastest.
struct BoxMesh: Sendable {
  struct Panel: Sendable {
    /// Index of the axis along which the outward normal points.
    let axis: Int
    let centre: Position
    /// Half the edge lengths, in metres, along the two axes that follow `axis` cyclically.
    let half: SIMD2<Double>
  }

  /// Edge lengths of the whole box in metres.
  let size: SIMD3<Double>
  let panels: [Panel]
  /// The highest frequency in hertz that panels of this size carry: in the octave that ends there, the error of the
  /// responses stays below −22 dB (`make figures` measures it).
  let highestFrequency: Double
  /// CHIEF points inside the octant, at which the pressure must vanish. They exclude spurious solutions at the interior
  /// resonances.
  let interior: [Position]

  /// - Parameter size: edge lengths in metres.
  init(size: SIMD3<Double>, parameters: DesignParameters.Box) {
    self.size = size
    let half = size / 2
    let resonance = Self.firstResonance(size: size)
    let mostPanels = parameters.maximumPanelCount / (resonance < Self.thickBoxResonance ? 2 : 1)
    var width = parameters.panelWidth
    var panels = Self.panels(half: half, width: width, grading: parameters.edgeGrading)
    while panels.count > mostPanels {
      width *= 1.05
      panels = Self.panels(half: half, width: width, grading: parameters.edgeGrading)
    }
    self.panels = panels
    highestFrequency = Self.widestPanel * speedOfSound / width
    interior = (0..<parameters.interiorPoints).map { i in
      let n = Double(i) + 0.5
      // Low-discrepancy R₃ sequence: negative powers of the root of x⁴ = x + 1 (Roberts, 2018).
      let sequence = SIMD3(n * 0.8191725133961645, n * 0.6710436067037893, n * 0.5497004779019703)
      let fraction = sequence - sequence.rounded(.down)
      return half * (0.1 + 0.75 * fraction)
    }
  }

  /// Mean width of the panels, in wavelengths at `highestFrequency`.
  private static let widestPanel = 0.27

  /// Boxes that resonate below this, in hertz, need interior points nearly everywhere. Least squares with those take four
  /// times as long, so these boxes have half as many panels at most.
  private static let thickBoxResonance = 6000.0

  /// The lowest interior Dirichlet resonance (zero pressure on the surface), in hertz, where the boundary integral
  /// equation has no unique solution.
  var firstResonance: Double { Self.firstResonance(size: size) }

  private static func firstResonance(size: SIMD3<Double>) -> Double {
    speedOfSound / 2 * (1 / (size * size)).sum().squareRoot()
  }

  /// - Parameters:
  ///   - half: half the edge lengths of the box, in metres.
  ///   - width: mean width of the panels in metres.
  ///   - grading: of the mesh towards the edges; 0 gives panels of equal width.
  private static func panels(half: SIMD3<Double>, width: Double, grading: Double) -> [Panel] {
    (0..<3).flatMap { axis in
      let (first, second) = ((axis + 1) % 3, (axis + 2) % 3)
      let (a, b) = (
        edges(half[first], width: width, grading: grading),
        edges(half[second], width: width, grading: grading)
      )
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

  /// Panel boundaries along one axis, from the symmetry plane at 0 to the edge of the box at `length`.
  private static func edges(_ length: Double, width: Double, grading: Double) -> [Double] {
    let count = max(3, Int((length / width).rounded(.up)))
    return (0...count).map { i in
      let fraction = Double(i) / Double(count)
      return i == count ? length : length * ((1 - grading) * fraction + grading * sin(.pi / 2 * fraction))
    }
  }
}
