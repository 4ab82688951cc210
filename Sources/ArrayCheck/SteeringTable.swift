import Acoustics
import Glibc
import Manifolds
import Numerics

/// How the array hears waves from many directions, and for large arrays from several distances: phases, with small
/// weights for directional capsules that face away.
struct SteeringTable {
  /// Hertz.
  let frequencies: [Double]
  let microphones: Int
  /// Number of sources: each direction once per distance.
  let sources: Int
  /// Unit vectors, one per direction; sources have those of the first distance first.
  let directions: [SIMD3<Double>]
  /// Shape: `[frequency][microphone][source]`.
  private(set) var re: [Float]
  private(set) var im: [Float]
  /// What scales a steered power to the share that one wave explains. Shape: `[frequency][source]`.
  private(set) var weights: [Float]
  /// Level of a wave from each source in dB, in the band of levels. Shape: `[source][microphone]`.
  private(set) var levels: [[Double]]
  /// Whether any capsule is directional.
  let isDirectional: Bool
  /// 1 for a line, 2 for a plane, 3 for anything else.
  let rank: Int

  /// - Parameter subset: the microphones to use.
  init(
    _ device: Device, manifold: any ArrayManifold, subset: [Int], frequencies: [Double],
    levelBand: ClosedRange<Double>
  ) {
    let microphones = subset.map { device.microphones[$0] }
    let positions = microphones.map(\.position)
    self.frequencies = frequencies
    self.microphones = subset.count
    rank = Self.rank(positions)
    isDirectional = microphones.contains { $0.capsule != nil }
    directions = Self.directions(positions, rank: device.body == .free && !isDirectional ? rank : 3)
    let distances = Self.distances(positions)
    sources = directions.count * distances.count
    re = [Float](repeating: 0, count: frequencies.count * subset.count * sources)
    im = re
    weights = [Float](repeating: 0, count: frequencies.count * sources)
    levels = [[Double]](repeating: [Double](repeating: 0, count: subset.count), count: sources)
    let grid = manifold.responses(from: directions, frequencies: frequencies).selecting(channels: subset)
    for source in 0..<sources {
      let (distance, d) = (distances[source / directions.count], source % directions.count)
      let paths = positions.map { Path(from: directions[d], at: distance, to: $0) }
      for f in frequencies.indices {
        let responses = subset.indices.map { grid[f, $0, d] }
        keep(responses, paths, f, source)
        guard levelBand.contains(frequencies[f]) else { continue }
        for m in subset.indices {
          levels[source][m] += responses[m].squaredMagnitude * paths[m].gain * paths[m].gain
        }
      }
    }
    levels = levels.map { $0.map { 10 * log10(max($0, 1e-9)) } }
  }

  /// What a near source changes on the way to a microphone.
  private struct Path {
    /// How much farther it is than a plane wave has it, in metres.
    let extra: Double
    /// And how much louder that makes it.
    let gain: Double

    init(from direction: SIMD3<Double>, at distance: Double, to position: Position) {
      guard distance < .infinity else {
        (extra, gain) = (0, 1)
        return
      }
      let length = (distance * direction - position).length
      (extra, gain) = (length - (distance - direction.dot(position)), distance / length)
    }
  }

  private mutating func keep(_ responses: [Complex], _ paths: [Path], _ f: Int, _ source: Int) {
    let largest = responses.map(\.magnitude).max()!
    var norm = 0.0
    for m in responses.indices {
      let weight = isDirectional ? responses[m].magnitude / max(largest, 1e-9) : 1
      let turn = Complex(phase: -2 * .pi * frequencies[f] * paths[m].extra / speedOfSound)
      let phase = responses[m].direction * turn
      let at = (f * microphones + m) * sources + source
      re[at] = Float(weight * phase.real)
      im[at] = Float(weight * phase.imaginary)
      norm += weight * weight
    }
    weights[f * sources + source] = Float(1 / (norm * Double(microphones) * Double(frequencies.count)))
  }

  /// In metres: infinite, and those that a large array tells from it.
  private static func distances(_ positions: [Position]) -> [Double] {
    let centre = positions.reduce(.zero, +) / Double(positions.count)
    let extent = positions.map { ($0 - centre).length }.max() ?? 0
    guard extent > Thresholds.largeExtent else { return [.infinity] }
    return [.infinity] + [2.5, 1.2, 0.7].filter { $0 > 2 * extent }
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

  /// 1 for a line, 2 for a plane, 3 for anything else.
  private static func rank(_ positions: [Position]) -> Int {
    let (axis, normal) = axes(positions)
    let offs = positions.map { $0 - positions[0] }
    let fromLine = offs.map { ($0 - $0.dot(axis) * axis).length }.max()!
    if fromLine < Thresholds.flatness { return 1 }
    return offs.map { abs($0.dot(normal)) }.max()! < Thresholds.flatness ? 2 : 3
  }

  private static func perpendicular(to axis: SIMD3<Double>) -> SIMD3<Double> {
    let other: SIMD3<Double> = abs(axis.x) < 0.7 ? [1, 0, 0] : [0, 1, 0]
    let side = other - other.dot(axis) * axis
    return side / side.length
  }
}
