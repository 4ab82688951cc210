import Acoustics
import CLapack
import Glibc

/// Overlapping regions of the sphere around the head, over which `SectorCost` compares energies: around the horizon,
/// above and below it, the zenith and the nadir. Each direction contributes to a sector with a von Mises–Fisher weight.
struct Sectors: Sendable {
  let count: Int
  /// Weight of each sector in the cost; the sum is 1.
  let importance: [Double]
  /// Weight of each direction within each sector, shape `[sector][direction]`; the sum over each sector is 1.
  let weights: [Double]
  /// Number of directions.
  let directions: Int

  /// - Parameters:
  ///   - directions: unit vectors of the head frame.
  ///   - importance: what each direction counts, mean 1; nil if all count the same.
  init(
    directions: [SIMD3<Double>], parameters: DesignParameters.Refinement, importance counts: [Double]? = nil
  ) {
    func circle(_ count: Int, elevation: Angle) -> [SIMD3<Double>] {
      (0..<count).map {
        sphericalUnit(azimuth: .degrees(Double($0) * (360 / Double(count))), elevation: elevation)
      }
    }
    let horizontal = parameters.horizonSectors
    let elevation = parameters.elevation
    let centres =
      circle(horizontal, elevation: .degrees(0))
      + circle(parameters.raisedSectors, elevation: elevation)
      + circle(parameters.raisedSectors, elevation: Angle(radians: -elevation.radians))
      + [[0, 0, 1], [0, 0, -1]]
    let raw = centres.indices.map {
      $0 < horizontal ? parameters.horizonWeight / Double(horizontal) : parameters.raisedWeight
    }
    var counted = raw
    var weights: [[Double]] = []
    for (sector, centre) in centres.enumerated() {
      var row = directions.map { exp(parameters.concentration * ($0.dot(centre) - 1)) }
      if let counts {
        let spread = row.reduce(0, +)
        row = zip(row, counts).map { $0 * $1 }
        // A sector counts as much as its directions do on average.
        counted[sector] *= row.reduce(0, +) / spread
      }
      let sum = row.reduce(0, +)
      weights.append(row.map { $0 / sum })
    }
    let total = counted.reduce(0, +)
    importance = counted.map { $0 / total }
    self.weights = weights.flatMap(\.self)
    count = centres.count
    self.directions = directions.count
  }

  /// Averages each row of values over each sector.
  /// - Parameters:
  ///   - rows: `[row][direction]`.
  ///   - rowCount: the number of rows.
  /// - Returns: `[sector][row]`.
  func means(of rows: [Double], count rowCount: Int) -> [Double] {
    var result = [Double](repeating: 0, count: count * rowCount)
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, Int32(count), Int32(rowCount), Int32(directions), 1, weights,
      Int32(directions), rows, Int32(directions), 0, &result, Int32(rowCount))
    return result
  }
}
