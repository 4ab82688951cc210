import Acoustics
import Foundation

/// Every direction is to be nearer than this to a measured one, in degrees.
let widestMeasuredGap = 60.0
let fewestMeasuredDirections = 25

/// Shares of the sphere that measured directions (of the device frame) stand for, sum 1: of evenly spread points,
/// those that are nearest. Directions beside a gap get no more than thrice the mean.
/// - Throws: where there are too few, or a gap is too wide to be filled with any sense.
func measuredShares(_ directions: [SIMD3<Double>], file: String) throws(DesignError) -> [Double] {
  guard directions.count >= fewestMeasuredDirections else {
    throw DesignError(
      "\(file) holds \(directions.count) directions; measure \(fewestMeasuredDirections) or more, all around the array"
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
    // Back in the measurement's terms: azimuth from the front to the left, elevation.
    let azimuth = Int((atan2(gap.centre.x, gap.centre.z) * 180 / .pi).rounded())
    let elevation = Int((asin(gap.centre.y) * 180 / .pi).rounded())
    throw DesignError(
      "\(file) holds no direction within \(Int(width)) degrees of azimuth \(azimuth), elevation \(elevation); measure "
        + "so that no gap is wider than \(Int(widestMeasuredGap)) degrees from its middle to its edge")
  }
  let most = 3 / Double(directions.count)
  let capped = counts.map { min($0 / Double(points.count), most) }
  let sum = capped.reduce(0, +)
  return capped.map { $0 / sum }
}
