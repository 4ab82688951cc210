import Acoustics
import CLapack
import Foundation

/// Regions of the head's surroundings over which the refinement compares energies: 36 around the horizon, six
/// above and six below at 40°, the zenith and the nadir. A direction belongs to a sector by a von Mises weight.
struct Sectors: Sendable {
  /// Concentration of the von Mises weight.
  static let concentration = 25.0

  let count: Int
  /// How much each sector counts, sum 1: the whole horizon as 18, each other sector as 0.4.
  let importance: [Double]
  /// Shape `[sector][direction]`, each sector's sum 1.
  let weights: [Double]
  let directions: Int

  /// - Parameter directions: unit vectors of the head frame.
  init(directions: [SIMD3<Double>]) {
    var centres = stride(from: 0.0, to: 360, by: 10).map {
      sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0))
    }
    let horizontal = centres.count
    for elevation in [40.0, -40] {
      centres += stride(from: 0.0, to: 360, by: 60).map {
        sphericalUnit(azimuth: .degrees($0), elevation: .degrees(elevation))
      }
    }
    centres += [[0, 0, 1], [0, 0, -1]]
    let raw = centres.indices.map { $0 < horizontal ? 18 / Double(horizontal) : 0.4 }
    importance = raw.map { $0 / raw.reduce(0, +) }
    weights = centres.flatMap { centre in
      let row = directions.map { exp(Self.concentration * ($0.dot(centre) - 1)) }
      let sum = row.reduce(0, +)
      return row.map { $0 / sum }
    }
    count = centres.count
    self.directions = directions.count
  }

  /// Means over each sector of rows of values: `rows` shape `[row][direction]`, result `[sector][row]`.
  func means(of rows: [Double], count rowCount: Int) -> [Double] {
    var result = [Double](repeating: 0, count: count * rowCount)
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, Int32(count), Int32(rowCount), Int32(directions), 1, weights,
      Int32(directions), rows, Int32(directions), 0, &result, Int32(rowCount))
    return result
  }
}
