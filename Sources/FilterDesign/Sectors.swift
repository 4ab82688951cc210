import Acoustics
import CLapack
import Glibc

/// Overlapping regions of the sphere around the head, over which `BinauralCost` compares energies: around the horizon,
/// above and below it, the zenith and the nadir, and last the whole sphere. But for the last, each direction contributes
/// to a sector with a von Mises–Fisher weight.
struct Sectors: Sendable {
  let count: Int
  /// Weight of each sector in the cost below and above the corner of the cross-spectrum; each sum is 1.
  let importance: (low: [Double], high: [Double])
  /// Weight of each direction within each sector, shape `[sector][direction]`; the sum over each sector is 1.
  let weights: [Double]
  /// The centre and the concentration of each sector; a centre of zero means the whole sphere. Sectors with the same
  /// are the same.
  let shapes: [(centre: SIMD3<Double>, concentration: Double)]
  /// Number of directions.
  let directions: Int

  /// - Parameters:
  ///   - directions: unit vectors of the head frame.
  ///   - importance: what each direction counts, mean 1; nil if all count the same.
  init(
    directions: [SIMD3<Double>], parameters: DesignParameters.Joint, importance counts: [Double]? = nil
  ) {
    func circle(_ count: Int, elevation: Angle) -> [SIMD3<Double>] {
      (0..<count).map {
        sphericalUnit(azimuth: .degrees(Double($0) * (360 / Double(count))), elevation: elevation)
      }
    }
    let horizontal = parameters.horizonSectors
    let elevation = parameters.elevation
    let horizon = circle(horizontal, elevation: .degrees(0))
    let raised =
      circle(parameters.raisedSectors, elevation: elevation)
      + circle(parameters.raisedSectors, elevation: Angle(radians: -elevation.radians))
      + [[0, 0, 1], [0, 0, -1]]
    // What each counts, before `importance` is normalised.
    var shares =
      horizon.map { _ in parameters.horizonWeight / Double(horizontal) }
      + raised.map { _ in parameters.raisedWeight } + [parameters.diffuseWeight]
    var weights: [[Double]] = []
    var shapes: [(SIMD3<Double>, Double)] = []
    // A centre of zero makes all directions alike: the whole sphere.
    for (sector, centre) in (horizon + raised + [[0, 0, 0]]).enumerated() {
      let concentration =
        sector < horizontal ? parameters.concentration : parameters.raisedConcentration
      shapes.append((centre, concentration))
      var row = directions.map { exp(concentration * ($0.dot(centre) - centre.dot(centre))) }
      if let counts {
        let spread = row.reduce(0, +)
        row = zip(row, counts).map { $0 * $1 }
        // A sector counts as much as its directions do on average.
        shares[sector] *= row.reduce(0, +) / spread
      }
      let sum = row.reduce(0, +)
      weights.append(row.map { $0 / sum })
    }
    // Within 25° of the front or of a side; 150° and more from the front, those at 150° included.
    let (near, rear) = (cos(25 * Double.pi / 180), cos(150 * Double.pi / 180) + 1e-9)
    func normalised(sideWeight: Double) -> [Double] {
      let factors = horizon.map { centre -> Double in
        if centre.x > near { return parameters.frontWeight }
        if abs(centre.y) > near { return sideWeight }
        return centre.x < rear ? parameters.rearWeight : 1
      }
      let weighted = zip(shares, factors + raised.map { _ in 1 } + [1]).map { $0 * $1 }
      let total = weighted.reduce(0, +)
      return weighted.map { $0 / total }
    }
    importance = (normalised(sideWeight: 1), normalised(sideWeight: parameters.highSideWeight))
    self.weights = weights.flatMap(\.self)
    self.shapes = shapes
    count = shares.count
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
