import Acoustics
import Glibc
import Manifolds
import Numerics

/// How the array hears waves from many directions, and for large arrays from several distances: phases, with small
/// weights for directional capsules that face away.
struct SteeringTable {
  let frequencies: Int
  let microphones: Int
  /// Number of directions, counted once per distance.
  let sources: Int
  /// Unit vectors, one per source.
  let directions: [SIMD3<Double>]
  /// Shape: `[frequency][microphone][source]`.
  let re: [Float]
  let im: [Float]
  /// What scales a steered power to the share that one wave explains. Shape: `[frequency][source]`.
  let weights: [Float]
  /// Level of a wave from each source in dB, in the band of levels. Shape: `[source][microphone]`.
  let levels: [[Double]]
  /// Whether any capsule is directional.
  let isDirectional: Bool
  /// 1 for a line, 2 for a plane, 3 for anything else.
  let rank: Int

  /// Distances in metres of sources that a large array tells from far ones.
  private static let distances = [2.5, 1.2, 0.7]
  /// Half the extent of an array, in metres, from which on distances count.
  private static let largeExtent = 0.1

  /// - Parameter subset: the microphones to use.
  init(
    _ device: Device, manifold: any ArrayManifold, subset: [Int], frequencies: [Double],
    levelBand: ClosedRange<Double>
  ) {
    let microphones = subset.map { device.microphones[$0] }
    let positions = microphones.map(\.position)
    rank = Self.rank(positions)
    let isDirectional = microphones.contains { $0.capsule != nil }
    self.isDirectional = isDirectional
    let plane = device.body == .free && !isDirectional ? rank : 3
    let base = Self.directions(positions, rank: plane)
    let centre = positions.reduce(.zero, +) / Double(positions.count)
    let extent = positions.map { ($0 - centre).length }.max() ?? 0
    let distances =
      [Double.infinity] + (extent > Self.largeExtent ? Self.distances.filter { $0 > 2 * extent } : [])
    let grid = manifold.responses(from: base, frequencies: frequencies).selecting(channels: subset)
    let count = base.count * distances.count
    sources = count
    self.frequencies = frequencies.count
    self.microphones = subset.count
    directions = distances.flatMap { _ in base }
    var re = [Float](repeating: 0, count: frequencies.count * subset.count * count)
    var im = re
    var weights = [Float](repeating: 0, count: frequencies.count * count)
    var power = [[Double]](repeating: [Double](repeating: 0, count: subset.count), count: count)
    for (r, distance) in distances.enumerated() {
      // How much farther a microphone is from a near source than a plane wave has it, and how much louder that makes it.
      let extra = base.map { u in
        positions.map { p in distance == .infinity ? 0 : (distance * u - p).length - (distance - u.dot(p)) }
      }
      let gain = base.map { u in
        positions.map { p in distance == .infinity ? 1 : distance / (distance * u - p).length }
      }
      for f in frequencies.indices {
        for d in base.indices {
          let source = r * base.count + d
          let largest = subset.indices.map { grid[f, $0, d].magnitude }.max()!
          var norm = 0.0
          for m in subset.indices {
            let value = grid[f, m, d]
            let weight = isDirectional ? value.magnitude / max(largest, 1e-9) : 1
            let phase =
              value.direction * Complex(phase: -2 * .pi * frequencies[f] * extra[d][m] / speedOfSound)
            let at = (f * subset.count + m) * count + source
            re[at] = Float(weight * phase.real)
            im[at] = Float(weight * phase.imaginary)
            norm += weight * weight
            if levelBand.contains(frequencies[f]) {
              power[source][m] += value.squaredMagnitude * gain[d][m] * gain[d][m]
            }
          }
          weights[f * count + source] = Float(1 / (norm * Double(subset.count) * Double(frequencies.count)))
        }
      }
    }
    self.re = re
    self.im = im
    self.weights = weights
    levels = power.map { $0.map { 10 * log10(max($0, 1e-9)) } }
  }

  /// Directions that the array tells apart: all, one side of a plane, or half a circle around a line.
  private static func directions(_ positions: [Position], rank: Int) -> [SIMD3<Double>] {
    let (axis, normal) = axes(positions)
    switch rank {
    case 1:
      return (0...120).map { n in
        let angle = Double(n) / 120 * .pi
        return cos(angle) * axis + sin(angle) * normal
      }
    case 2: return fibonacciSphere(700).filter { $0.dot(normal) >= 0 }
    default: return fibonacciSphere(400)
    }
  }

  /// The direction between the two microphones that are farthest apart, and the normal of the plane through a third.
  private static func axes(_ positions: [Position]) -> (axis: SIMD3<Double>, normal: SIMD3<Double>) {
    var best = (SIMD3<Double>(1, 0, 0), 0.0)
    for a in positions { for b in positions where (b - a).length > best.1 { best = (b - a, (b - a).length) } }
    let axis = best.0 / max(best.1, 1e-9)
    let off = positions.map { p in p - positions[0] - (p - positions[0]).dot(axis) * axis }
      .max { $0.length < $1.length }!
    let side = off.length > 1e-3 ? off / off.length : perpendicular(to: axis)
    return (axis, axis.cross(side))
  }

  /// 1 for a line, 2 for a plane, 3 for anything else, with 1.5 mm of tolerance.
  static func rank(_ positions: [Position]) -> Int {
    guard positions.count > 1 else { return 0 }
    let (axis, normal) = axes(positions)
    let offs = positions.map { $0 - positions[0] }
    let fromLine = offs.map { ($0 - $0.dot(axis) * axis).length }.max()!
    if fromLine < 1.5e-3 { return 1 }
    return offs.map { abs($0.dot(normal)) }.max()! < 1.5e-3 ? 2 : 3
  }

  private static func perpendicular(to axis: SIMD3<Double>) -> SIMD3<Double> {
    let other: SIMD3<Double> = abs(axis.x) < 0.7 ? [1, 0, 0] : [0, 1, 0]
    let side = other - other.dot(axis) * axis
    return side / side.length
  }
}
