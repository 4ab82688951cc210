import Glibc

/// Real orthonormal spherical harmonics of degrees 0...`order` at unit vectors. The polar axis is the third axis.
/// - Returns: shape `[direction][(order + 1)²]`, flat. Degree l, order m is at l² + l + m.
/// - Source: DLMF 14.30; normalised recurrences as in Holmes and Featherstone, J. Geodesy 76 (2002).
package func realSphericalHarmonics(order: Int, at directions: [SIMD3<Double>]) -> [Double] {
  let count = (order + 1) * (order + 1)
  var result = [Double](repeating: 0, count: directions.count * count)
  var column = [Double](repeating: 0, count: order + 1)
  for (d, u) in directions.enumerated() {
    let cosine = min(1, max(-1, u.z))
    let sine = (1 - cosine * cosine).squareRoot()
    let azimuth = atan2(u.y, u.x)
    var sectoral = (1 / (4 * Double.pi)).squareRoot()
    for m in 0...order {
      if m > 0 { sectoral *= (Double(2 * m + 1) / Double(2 * m)).squareRoot() * sine }
      column[m] = sectoral
      if m < order { column[m + 1] = Double(2 * m + 3).squareRoot() * cosine * sectoral }
      for l in stride(from: m + 2, through: order, by: 1) {
        let (x, y) = (Double(l), Double(m))
        let a = ((4 * x * x - 1) / (x * x - y * y)).squareRoot()
        let b = (((x - 1) * (x - 1) - y * y) / (4 * (x - 1) * (x - 1) - 1)).squareRoot()
        column[l] = a * (cosine * column[l - 1] - b * column[l - 2])
      }
      let even = m == 0 ? 1 : 2.0.squareRoot() * cos(Double(m) * azimuth)
      let odd = 2.0.squareRoot() * sin(Double(m) * azimuth)
      for l in m...order {
        result[d * count + l * l + l + m] = column[l] * even
        if m > 0 { result[d * count + l * l + l - m] = column[l] * odd }
      }
    }
  }
  return result
}
