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
  let entries: Int
  /// Number of entries per image.
  let plane: Int
  /// Entries at k = 0.
  private let staticParts: [Double]
  /// Quadrature points of all panels: the entry, the distance to the field point in metres, and the height of the field
  /// point above the panel × quadrature area / 4πr³.
  private let samples: (entries: [Int32], distances: [Double], weights: [Double])
  /// Distance between wavenumbers, in 1/m, and e^(−jx) of each sample at that wavenumber.
  private let spacing: Double
  private let steps: [Complex]
  /// Where the samples of each image's field points begin, `[image][point]`, and their number.
  private let starts: [Int]
  private let points: Int

  /// - Parameter spacing: distance between the wavenumbers that are asked for together, in 1/m.
  init(mesh: BoxMesh, points: [Position], spacing: Double, step: DesignStep) throws(DesignError) {
    plane = points.count * mesh.panels.count
    entries = Parity.count * plane
    var staticParts = [Double](repeating: 0, count: entries)
    self.points = points.count
    var samples: (entries: [Int32], distances: [Double], weights: [Double]) = ([], [], [])
    samples.entries.reserveCapacity(2 * entries)
    samples.distances.reserveCapacity(2 * entries)
    samples.weights.reserveCapacity(2 * entries)
    var starts: [Int] = []
    var entry = 0
    for image in 0..<Parity.count {
      let mirror = Parity.mirror(image)
      try step.reached(Double(image) / Double(Parity.count))
      for point in points {
        try step.check()
        starts.append(samples.entries.count)
        for panel in mesh.panels {
          let geometry = PanelGeometry(of: panel, mirror: mirror, from: point)
          // A panel does not contribute to points in its own plane.
          if abs(geometry.height) > 1e-9 {
            staticParts[entry] = geometry.solidAngle / (4 * .pi)
            geometry.forEachSample { distance, weight in
              samples.entries.append(Int32(entry))
              samples.distances.append(distance)
              samples.weights.append(weight)
            }
          }
          entry += 1
        }
      }
    }
    self.staticParts = staticParts
    self.samples = samples
    self.spacing = spacing
    steps = samples.distances.map { Complex(phase: -spacing * $0) }
    self.starts = starts + [samples.entries.count]
  }

  /// Computes the integrals at several wavenumbers, `spacing` apart. From one to the next the phase of each sample is
  /// turned by a complex product, which saves sines and cosines.
  /// - Parameters:
  ///   - first: the first wavenumber, in 1/m.
  ///   - unused: field points of which no entries are needed.
  ///   - planes: each receives `entries` values of one wavenumber; those of unused points are at k = 0.
  func write(
    first: Double, without unused: Range<Int>, to planes: [UnsafeMutablePointer<Complex>], step: DesignStep
  ) throws(DesignError) {
    let panels = plane / points
    for image in 0..<Parity.count {
      try step.check()
      for point in 0..<points {
        let row = image * points + point
        staticParts.withUnsafeBufferPointer { parts in
          for values in planes {
            for i in row * panels..<(row + 1) * panels { values[i] = Complex(parts[i], 0) }
          }
        }
        if !unused.contains(point) { add(starts[row]..<starts[row + 1], first, to: planes) }
      }
    }
  }

  /// Adds ((1 + jx) e^(−jx) − 1) × weight of some samples at distances x / wavenumber.
  private func add(_ range: Range<Int>, _ first: Double, to planes: [UnsafeMutablePointer<Complex>]) {
    samples.entries.withUnsafeBufferPointer { entries in
      samples.distances.withUnsafeBufferPointer { distances in
        samples.weights.withUnsafeBufferPointer { weights in
          steps.withUnsafeBufferPointer { steps in
            planes.withUnsafeBufferPointer { planes in
              // Two at a time; the last one of an odd number twice, the second time without weight.
              for a in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
                let b = min(a + 1, range.upperBound - 1)
                let distance = SIMD2(distances[a], distances[b])
                let weight = SIMD2(weights[a], a == b ? 0 : weights[b])
                let (entry, other) = (Int(entries[a]), Int(entries[b]))
                let (turnReal, turnImaginary) = (
                  SIMD2(steps[a].real, steps[b].real), SIMD2(steps[a].imaginary, steps[b].imaginary)
                )
                var x = first * distance
                var (c, s) = Turns.cosineAndSine(-x)
                for values in planes {
                  let (real, imaginary) = (weight * (c - x * s - 1), weight * (x * c + s))
                  values[entry] += Complex(real.x, imaginary.x)
                  values[other] += Complex(real.y, imaginary.y)
                  (c, s) = (c * turnReal - s * turnImaginary, s * turnReal + c * turnImaginary)
                  x += spacing * distance
                }
              }
            }
          }
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
