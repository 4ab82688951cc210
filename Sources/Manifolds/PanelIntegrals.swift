import Acoustics
import Glibc
import Numerics

/// The double-layer potentials of all panels and their mirror images at a list of points:
/// ∫ ∂G/∂n dS with G = e^(−jkr) / 4πr.
///
/// The static part (k = 0) is a solid angle, which has a closed form. The dynamic remainder is smooth and is integrated
/// by Gauss–Legendre quadrature, with more points for nearer panels.
///
/// Entries have the shape `[image][point][panel]`, flat in that order.
struct PanelIntegrals: Sendable {
  /// The contribution of one quadrature point of a panel to an entry.
  private struct Sample: Sendable {
    let entry: Int
    /// From the quadrature point to the field point, in metres.
    let distance: Double
    /// Height of the field point above the panel × quadrature area / 4πr³.
    let weight: Double
  }

  let entries: Int
  /// Number of entries per image.
  let plane: Int
  /// Entries at k = 0.
  private let staticParts: [Double]
  private let samples: [Sample]

  init(mesh: BoxMesh, points: [Position], step: DesignStep) throws(DesignError) {
    plane = points.count * mesh.panels.count
    entries = Parity.count * plane
    var staticParts = [Double](repeating: 0, count: entries)
    var samples: [Sample] = []
    samples.reserveCapacity(entries)
    var entry = 0
    for image in 0..<Parity.count {
      let mirror = Parity.mirror(image)
      try step.reached(Double(image) / Double(Parity.count))
      for point in points {
        try step.check()
        for panel in mesh.panels {
          let geometry = PanelGeometry(of: panel, mirror: mirror, from: point)
          // A panel does not contribute to points in its own plane.
          if abs(geometry.height) > 1e-9 {
            staticParts[entry] = geometry.solidAngle / (4 * .pi)
            geometry.forEachSample { distance, weight in
              samples.append(Sample(entry: entry, distance: distance, weight: weight))
            }
          }
          entry += 1
        }
      }
    }
    self.staticParts = staticParts
    self.samples = samples
  }

  /// Computes the integrals at one wavenumber, in 1/m.
  /// - Parameter values: receives `entries` values.
  func write(
    wavenumber: Double, to values: UnsafeMutablePointer<Complex>, step: DesignStep
  ) throws(DesignError) {
    for i in 0..<entries { values[i] = Complex(staticParts[i], 0) }
    try samples.withUnsafeBufferPointer { samples throws(DesignError) in
      for first in stride(from: 0, to: samples.count, by: 0x10000) {
        try step.check()
        let end = min(first + 0x10000, samples.count)
        // Two at a time; the last one of an odd number twice.
        for number in stride(from: first, to: end, by: 2) {
          let (a, b) = (samples[number], samples[min(number + 1, end - 1)])
          let x = wavenumber * SIMD2(a.distance, b.distance)
          let (c, s) = Turns.cosineAndSine(x)
          // ((1 + jx) e^(−jx) − 1) × weight
          let weight = SIMD2(a.weight, b.weight)
          let (real, imaginary) = (weight * (c + x * s - 1), weight * (x * c - s))
          values[a.entry].real += real.x
          values[a.entry].imaginary += imaginary.x
          guard number + 1 < end else { break }
          values[b.entry].real += real.y
          values[b.entry].imaginary += imaginary.y
        }
      }
    }
  }
}

/// The position of a field point relative to a panel's mirror image, in the panel's own coordinates.
private struct PanelGeometry {
  /// Height of the point above the panel's outer side, in metres; negative behind it.
  let height: Double
  /// Offset of the point from the panel's centre, parallel to the panel, in metres.
  let across: SIMD2<Double>
  /// Half the edge lengths of the panel, in metres.
  let half: SIMD2<Double>

  init(of panel: BoxMesh.Panel, mirror: SIMD3<Double>, from point: Position) {
    let offset = point - panel.centre * mirror
    height = offset[panel.axis] * mirror[panel.axis]
    across = [offset[(panel.axis + 1) % 3], offset[(panel.axis + 2) % 3]]
    half = panel.half
  }

  /// Solid angle of the panel as seen from the point; negative behind the panel.
  var solidAngle: Double {
    var sum = 0.0
    for (a, sign) in [(across.x + half.x, 1.0), (across.x - half.x, -1.0)] {
      for (b, other) in [(across.y + half.y, 1.0), (across.y - half.y, -1.0)] {
        let distance = (a * a + b * b + height * height).squareRoot()
        sum += sign * other * atan(a * b / (height * distance))
      }
    }
    return sum
  }

  /// Calls `body` for each quadrature point: 16 for near panels, 4 at medium distance, 1 for far panels.
  func forEachSample(_ body: (_ distance: Double, _ weight: Double) -> Void) {
    let widest = 2 * max(half.x, half.y)
    let distance = (across.x * across.x + across.y * across.y + height * height).squareRoot()
    let rule = distance < 2.5 * widest ? GaussRule.four : distance < 6 * widest ? .two : .one
    let area = 4 * half.x * half.y
    for (a, u) in zip(rule.nodes, rule.weights) {
      for (b, v) in zip(rule.nodes, rule.weights) {
        let x = across.x - a * half.x
        let y = across.y - b * half.y
        let r = (x * x + y * y + height * height).squareRoot()
        body(r, height * area * u * v / (4 * .pi * r * r * r))
      }
    }
  }
}

/// Gauss–Legendre quadrature on −1…1, with weights normalised to sum 1.
private struct GaussRule {
  let nodes: [Double]
  let weights: [Double]

  static let one = GaussRule(nodes: [0], weights: [1])
  static let two = GaussRule(nodes: [-0.5773502691896257, 0.5773502691896257], weights: [0.5, 0.5])
  static let four = GaussRule(
    nodes: [-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526],
    weights: [0.1739274225687269, 0.3260725774312731, 0.3260725774312731, 0.1739274225687269])
}
