import Acoustics
import Glibc
import Numerics

/// Maximum angle from any direction to the nearest measured one, in degrees.
let widestMeasuredGap = 60.0
/// Minimum number of directions in a measurement.
let fewestMeasuredDirections = 25
/// The same in a measurement of the horizontal plane only, and the maximum angle between neighbours there.
let fewestHorizontalDirections = 12
let widestHorizontalGap = 40.0

/// Maximum of directions times microphones: a spectrum of each is kept in memory.
let mostResponses = 250_000

/// Whether all directions, unit vectors of the device frame, are within 5.5° of the horizontal plane: 5°, and what
/// measurements round.
func isHorizontal(_ directions: [SIMD3<Double>]) -> Bool {
  directions.allSatisfy { abs($0.y) < sin(5.5 * .pi / 180) }
}

/// Quadrature weights of the measured directions (device frame): each one's share of the sphere, sum 1.
///
/// The share is the fraction of evenly spread points that are nearest to the direction, as in a Voronoi diagram. It is
/// capped at three times the mean, so that directions at the border of a gap do not dominate.
/// - Throws: `DesignError` if there are too few directions, or a gap is too wide for meaningful interpolation.
func measuredShares(_ directions: [SIMD3<Double>], file: String) throws(DesignError) -> [Double] {
  if isHorizontal(directions) { return try horizontalShares(directions, file: file) }
  guard directions.count >= fewestMeasuredDirections else {
    throw DesignError(
      "\(file) contains \(directions.count) directions; measure at least \(fewestMeasuredDirections), all around the array"
    )
  }
  let points = fibonacciSphere(4000)
  var counts = [Double](repeating: 0, count: directions.count)
  var gap = (cosine: 2.0, centre: SIMD3<Double>.zero)
  for point in points {
    var nearest = (cosine: -2.0, index: 0)
    for (index, direction) in directions.enumerated() {
      let cosine = direction.dot(point)
      if cosine > nearest.cosine { nearest = (cosine, index) }
    }
    counts[nearest.index] += 1
    if nearest.cosine < gap.cosine { gap = (nearest.cosine, point) }
  }
  let width = acos(min(1, max(-1, gap.cosine))) * 180 / .pi
  guard width <= widestMeasuredGap else {
    // Converted back to the measurement's convention: azimuth from the front to the left, and elevation.
    let azimuth = Int((atan2(gap.centre.x, gap.centre.z) * 180 / .pi).rounded())
    let elevation = Int((asin(gap.centre.y) * 180 / .pi).rounded())
    throw DesignError(
      "\(file) contains no direction within \(Int(width)) degrees of azimuth \(azimuth), elevation \(elevation); measure "
        + "so that every direction is within \(Int(widestMeasuredGap)) degrees of a measured one")
  }
  let most = 3 / Double(directions.count)
  let capped = counts.map { min($0 / Double(points.count), most) }
  let sum = capped.reduce(0, +)
  return capped.map { $0 / sum }
}

/// The share of the circle that each of horizontal directions represents: half of both gaps to its neighbours.
private func horizontalShares(_ directions: [SIMD3<Double>], file: String) throws(DesignError) -> [Double] {
  guard directions.count >= fewestHorizontalDirections else {
    throw DesignError(
      "\(file) contains \(directions.count) directions, all in the horizontal plane; measure at least "
        + "\(fewestHorizontalDirections) there, all around the array")
  }
  let azimuths = directions.map { atan2($0.x, $0.z) }
  let order = azimuths.indices.sorted { azimuths[$0] < azimuths[$1] }
  var shares = [Double](repeating: 0, count: directions.count)
  for (n, index) in order.enumerated() {
    let next = order[(n + 1) % order.count]
    let gap = azimuths[next] - azimuths[index] + (n + 1 == order.count ? 2 * .pi : 0)
    let degrees = gap * 180 / .pi
    guard degrees <= widestHorizontalGap else {
      throw DesignError(
        "\(file) contains no direction between azimuths \(Int((azimuths[index] * 180 / .pi).rounded())) and "
          + "\(Int((azimuths[next] * 180 / .pi).rounded())) of the horizontal plane; measure at least every "
          + "\(Int(widestHorizontalGap)) degrees, or other elevations as well")
    }
    shares[index] += gap / (4 * .pi)
    shares[next] += gap / (4 * .pi)
  }
  return shares
}
