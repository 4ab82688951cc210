import CLapack

/// Weighted least squares from values in `directions` towards spherical harmonics of orders 0...`order`.
/// - Parameters:
///   - shares: of the sphere that the directions stand for, sum 1.
///   - penalty: what harmonics of degree l cost, relative to the energy of their fit.
/// - Returns: `[harmonic][direction]`.
func harmonicAnalysis(
  _ directions: [SIMD3<Double>], shares: [Double], order: Int, file: String, penalty: (Int) -> Double
) throws(DesignError) -> [Double] {
  let count = directions.count
  let harmonics = (order + 1) * (order + 1)
  let harmonicsAt = realSphericalHarmonics(order: order, at: directions)
  var transposed = [Double](repeating: 0, count: harmonics * count)
  for d in 0..<count {
    for h in 0..<harmonics {
      transposed[h * count + d] = harmonicsAt[d * harmonics + h] * shares[d] * Double(count)
    }
  }
  var gram = [Double](repeating: 0, count: harmonics * harmonics)
  multiply(transposed, harmonicsAt, rows: harmonics, inner: count, columns: harmonics, into: &gram)
  for l in 0...order {
    for h in l * l..<(l + 1) * (l + 1) {
      gram[h * harmonics + h] += penalty(l) * Double(count) / (4 * .pi)
    }
  }
  let status = LAPACKE_dposv(
    LAPACK_ROW_MAJOR, CChar(UInt8(ascii: "U")), Int32(harmonics), Int32(count), &gram, Int32(harmonics),
    &transposed, Int32(count))
  guard status == 0 else {
    throw DesignError("the directions in \(file) cannot be interpolated; spread them around the sphere")
  }
  return transposed
}
