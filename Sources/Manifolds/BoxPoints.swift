import Acoustics
import CLapack
import Foundation

/// Points of a box's octant, and what the sectors of plane waves are there.
struct BoxPoints: Sendable {
  /// The different coordinates along each axis, and which of them each point has.
  private let coordinates: [[Double]]
  private let places: [SIMD3<Int>]

  init(_ points: [Position]) {
    let coordinates = (0..<3).map { axis in Array(Set(points.map { $0[axis] })).sorted() }
    let indices = coordinates.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($1, $0) }) }
    self.coordinates = coordinates
    places = points.map { [indices[0][$0.x]!, indices[1][$0.y]!, indices[2][$0.z]!] }
  }

  /// Parts of e^(jk d·r) in each sector at the first `count` points: a product of cosines along even axes and sines
  /// along odd ones, the factor j of each sine left out.
  /// - Shape: `[sector][point][direction]`.
  func sectors(of directions: [SIMD3<Double>], wavenumber: Double, count: Int) -> [Double] {
    let width = directions.count
    // [axis][even, odd]: [coordinate][direction]
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
                let place = places[p]
                let out = base + (sector * count + p) * width
                let a = x.baseAddress! + place.x * width
                let b = y.baseAddress! + place.y * width
                let c = z.baseAddress! + place.z * width
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

/// Product of two matrices that lie row by row.
func multiply(
  _ a: [Double], _ b: [Double], rows: Int, inner: Int, columns: Int, into product: inout [Double]
) {
  cblas_dgemm(
    CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), Int32(columns), Int32(inner), 1, a, Int32(inner),
    b, Int32(columns), 0, &product, Int32(columns))
}
