import Acoustics
import Foundation

/// The double-layer potential of every panel and its images at a list of points:
/// ∫ ∂G/∂n dS with G = e^(−jkr) / 4πr.
///
/// The part that remains at k = 0 is a solid angle, which has a closed form; the rest is smooth and is
/// sampled, by the more points the nearer the panel is.
/// - Shape: `[image][point][panel]`, flat in that order.
struct PanelIntegrals: Sendable {
  /// One point of a panel, as it adds to an entry.
  private struct Sample: Sendable {
    let entry: Int
    let distance: Double
    /// Height over the panel × area / 4πr³.
    let weight: Double
  }

  let entries: Int
  /// Entries per image.
  let plane: Int
  private let still: [Double]
  private let samples: [Sample]

  init(mesh: BoxMesh, points: [Position], step: DesignStep) throws(DesignError) {
    plane = points.count * mesh.panels.count
    entries = Parity.count * plane
    var still = [Double](repeating: 0, count: entries)
    var samples: [Sample] = []
    samples.reserveCapacity(entries)
    var entry = 0
    for image in 0..<Parity.count {
      let mirror = Parity.mirror(image)
      try step.reached(Double(image) / Double(Parity.count))
      for point in points {
        try step.check()
        for panel in mesh.panels {
          let view = View(of: panel, mirror: mirror, from: point)
          if abs(view.height) > 1e-9 {
            still[entry] = view.solidAngle / (4 * .pi)
            view.forEachSample { distance, weight in
              samples.append(Sample(entry: entry, distance: distance, weight: weight))
            }
          }
          entry += 1
        }
      }
    }
    self.still = still
    self.samples = samples
  }

  /// Writes the integrals at one wavenumber, in 1/m, into `entries` values.
  func write(
    wavenumber: Double, to values: UnsafeMutablePointer<Complex>, step: DesignStep
  ) throws(DesignError) {
    for i in 0..<entries { values[i] = Complex(still[i], 0) }
    for (number, sample) in samples.enumerated() {
      if number & 0xffff == 0 { try step.check() }
      let x = wavenumber * sample.distance
      let (c, s) = (cos(x), sin(x))
      // ((1 + jx) e^(−jx) − 1) × weight
      values[sample.entry].real += sample.weight * (c + x * s - 1)
      values[sample.entry].imaginary += sample.weight * (x * c - s)
    }
  }
}

/// A panel's image as a point sees it, in the panel's own coordinates.
private struct View {
  /// Of the point over the panel's outer side, and across it from its centre.
  let height: Double
  let across: SIMD2<Double>
  let half: SIMD2<Double>

  init(of panel: BoxMesh.Panel, mirror: SIMD3<Double>, from point: Position) {
    let offset = point - panel.centre * mirror
    height = offset[panel.axis] * mirror[panel.axis]
    across = [offset[(panel.axis + 1) % 3], offset[(panel.axis + 2) % 3]]
    half = panel.half
  }

  /// Negative from behind.
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

/// Gauss–Legendre quadrature on −1…1, weights of sum 1.
private struct GaussRule {
  let nodes: [Double]
  let weights: [Double]

  static let one = GaussRule(nodes: [0], weights: [1])
  static let two = GaussRule(nodes: [-0.5773502691896257, 0.5773502691896257], weights: [0.5, 0.5])
  static let four = GaussRule(
    nodes: [-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526],
    weights: [0.1739274225687269, 0.3260725774312731, 0.3260725774312731, 0.1739274225687269])
}
