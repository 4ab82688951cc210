import Glibc

/// A product grid on the sphere with the weights of Gauss's quadrature: sums over it are exact for spherical harmonics up
/// to degree 2 × `latitudes` − 1, where evenly spread directions are off by a thousandth. Small differences of large
/// responses need that.
/// - Returns: unit vectors around the second axis, and the weight of each relative to the mean.
/// - Source: Atkinson and Han, Spherical Harmonics and Approximations on the Unit Sphere (2012), section 5.1.
package func gaussSphere(latitudes: Int) -> (directions: [SIMD3<Double>], weights: [Double]) {
  var directions: [SIMD3<Double>] = []
  var weights: [Double] = []
  let longitudes = 2 * latitudes
  for latitude in 0..<latitudes {
    // Newton's method on the Legendre polynomial of degree `latitudes`.
    var x = cos(.pi * (Double(latitude) + 0.75) / (Double(latitudes) + 0.5))
    var slope = 0.0
    for _ in 0..<20 {
      var (previous, value) = (1.0, x)
      for degree in 2..<latitudes + 1 {
        let n = Double(degree)
        (previous, value) = (value, ((2 * n - 1) * x * value - (n - 1) * previous) / n)
      }
      slope = Double(latitudes) * (x * value - previous) / (x * x - 1)
      x -= value / slope
    }
    let weight = Double(latitudes) / ((1 - x * x) * slope * slope)
    let radius = (1 - x * x).squareRoot()
    for longitude in 0..<longitudes {
      let angle = 2 * .pi * (Double(longitude) + 0.5) / Double(longitudes)
      directions.append([radius * sin(angle), x, radius * cos(angle)])
      weights.append(weight)
    }
  }
  return (directions, weights)
}
