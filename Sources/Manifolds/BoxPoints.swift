import Acoustics
import Foundation

/// Points in a box's octant, with evaluation of the parity components of plane waves at these points.
///
/// The points share few distinct coordinates, so sines and cosines are computed once per coordinate and axis.
struct BoxPoints: Sendable {
  /// Distinct coordinates along each axis, in ascending order.
  private let coordinates: [[Double]]
  /// Indices into `coordinates` for each point.
  private let coordinateIndices: [SIMD3<Int>]

  init(_ points: [Position]) {
    let coordinates = (0..<3).map { axis in Array(Set(points.map { $0[axis] })).sorted() }
    let indices = coordinates.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($1, $0) }) }
    self.coordinates = coordinates
    coordinateIndices = points.map { [indices[0][$0.x]!, indices[1][$0.y]!, indices[2][$0.z]!] }
  }

  /// Parity components of e^(jk d·r) at the first `count` points: products of cosines along even axes and sines along
  /// odd axes. The factor j of each sine is omitted; `BoxManifold` applies it to the weights.
  /// - Parameter wavenumber: k in 1/m.
  /// - Returns: shape `[sector][point][direction]`.
  func sectors(of directions: [SIMD3<Double>], wavenumber: Double, count: Int) -> [Double] {
    let width = directions.count
    // Shape [axis][even, odd][coordinate × direction].
    let factors = (0..<3).map { axis -> [[Double]] in
      let phases = coordinates[axis].flatMap { x in directions.map { wavenumber * x * $0[axis] } }
      return [phases.map { cos($0) }, phases.map { sin($0) }]
    }
    return [Double](unsafeUninitializedCapacity: Parity.count * count * width) { values, size in
      let base = values.baseAddress!
      for sector in 0..<Parity.count {
        factors[0][sector & 1].withUnsafeBufferPointer { x in
          factors[1][sector >> 1 & 1].withUnsafeBufferPointer { y in
            factors[2][sector >> 2].withUnsafeBufferPointer { z in
              for p in 0..<count {
                let index = coordinateIndices[p]
                let out = base + (sector * count + p) * width
                let a = x.baseAddress! + index.x * width
                let b = y.baseAddress! + index.y * width
                let c = z.baseAddress! + index.z * width
                for d in 0..<width { out[d] = a[d] * b[d] * c[d] }
              }
            }
          }
        }
      }
      size = Parity.count * count * width
    }
  }
}
