import CLapack

/// The matrix of a regularised least-squares fit of spherical harmonics, of degrees 0...`order`, to values in
/// `directions`.
/// - Parameters:
///   - shares: quadrature weights: the share of the sphere that each direction represents. They sum to 1.
///   - file: named in the error.
///   - penalty: regularisation of the harmonics of a given degree, relative to their diagonal element of the normal
///     equations.
/// - Returns: shape `[harmonic][direction]`.
package func harmonicAnalysis(
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
