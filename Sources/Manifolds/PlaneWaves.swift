import Acoustics
import Glibc

/// Points in a box's octant.
///
/// The points share few distinct coordinates, so sines and cosines are computed once per coordinate and axis.
struct BoxPoints: Sendable {
  /// Distinct coordinates along each axis, in ascending order.
  fileprivate let coordinates: [[Double]]
  /// Indices into `coordinates` for each point.
  fileprivate let coordinateIndices: [SIMD3<Int>]

  var count: Int { coordinateIndices.count }

  init(_ points: [Position]) {
    let coordinates = (0..<3).map { axis in Array(Set(points.map { $0[axis] })).sorted() }
    let indices = coordinates.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($1, $0) }) }
    self.coordinates = coordinates
    coordinateIndices = points.map { [indices[0][$0.x]!, indices[1][$0.y]!, indices[2][$0.z]!] }
  }
}

/// Parity components of the plane waves e^(jk d·r) from some directions, at the multiples of one wavenumber in ascending
/// order. From one multiple to the next phases are turned by complex products, as in `Phasors`; cosines and sines are kept
/// apart here, so that their products are vectorised.
struct PlaneWaves {
  private let points: BoxPoints
  private let directionCount: Int
  /// Cosines and sines along each axis at the first wavenumber: `[axis][coordinate × direction]`.
  private let steps: [(cosines: [Double], sines: [Double])]
  /// The same at the present multiple, which is 0 at first.
  private var factors: [(cosines: [Double], sines: [Double])]

  /// - Parameters:
  ///   - directions: unit vectors.
  ///   - wavenumber: of which the multiples are visited, in 1/m.
  init(_ points: BoxPoints, directions: [SIMD3<Double>], wavenumber: Double) {
    self.points = points
    directionCount = directions.count
    let phases = (0..<3).map { axis in
      points.coordinates[axis].flatMap { x in directions.map { wavenumber * x * $0[axis] } }
    }
    steps = phases.map { ($0.map { cos($0) }, $0.map { sin($0) }) }
    factors = phases.map {
      ([Double](repeating: 1, count: $0.count), [Double](repeating: 0, count: $0.count))
    }
  }

  /// Turns the waves to the next multiple of the wavenumber.
  mutating func advance() {
    for axis in 0..<3 { Self.turn(&factors[axis], by: steps[axis]) }
  }

  private static func turn(
    _ factor: inout (cosines: [Double], sines: [Double]), by step: (cosines: [Double], sines: [Double])
  ) {
    let count = step.cosines.count
    step.cosines.withUnsafeBufferPointer { c in
      step.sines.withUnsafeBufferPointer { s in
        factor.cosines.withUnsafeMutableBufferPointer { cosines in
          factor.sines.withUnsafeMutableBufferPointer { sines in
            for i in 0..<count {
              let (a, b) = (cosines[i], sines[i])
              cosines[i] = a * c[i] - b * s[i]
              sines[i] = b * c[i] + a * s[i]
            }
          }
        }
      }
    }
  }

  /// Writes a sector's components at the first `count` points: products of cosines along even axes and sines along odd
  /// axes. The factor j of each sine is omitted; `BoxManifold` applies it to the weights.
  /// - Parameter base: shape `[point][direction]`.
  func write(sector: Int, count: Int, to base: UnsafeMutablePointer<Double>) {
    let width = directionCount
    factor(0, isOdd: sector & 1 != 0).withUnsafeBufferPointer { x in
      factor(1, isOdd: sector & 2 != 0).withUnsafeBufferPointer { y in
        factor(2, isOdd: sector & 4 != 0).withUnsafeBufferPointer { z in
          for p in 0..<count {
            let index = points.coordinateIndices[p]
            let out = base + p * width
            let a = x.baseAddress! + index.x * width
            let b = y.baseAddress! + index.y * width
            let c = z.baseAddress! + index.z * width
            for d in 0..<width { out[d] = a[d] * b[d] * c[d] }
          }
        }
      }
    }
  }

  private func factor(_ axis: Int, isOdd: Bool) -> [Double] {
    isOdd ? factors[axis].sines : factors[axis].cosines
  }
}
