import CLapack

/// The matrix of a regularised least-squares fit of functions to values in some directions.
/// - Parameters:
///   - functions: values of the functions in each direction, `[direction][function]`.
///   - shares: quadrature weights: the share of all directions that each one represents. They sum to 1.
///   - penalties: regularisation of each function, relative to its diagonal element of the normal equations.
///   - file: named in the error.
/// - Returns: shape `[function][direction]`.
package func regularisedFit(
  _ functions: [Double], shares: [Double], penalties: [Double], file: String
) throws(DesignError) -> [Double] {
  let (count, rows) = (shares.count, penalties.count)
  var transposed = [Double](repeating: 0, count: rows * count)
  for d in 0..<count {
    for h in 0..<rows { transposed[h * count + d] = functions[d * rows + h] * shares[d] * Double(count) }
  }
  var gram = [Double](repeating: 0, count: rows * rows)
  multiply(transposed, functions, rows: rows, inner: count, columns: rows, into: &gram)
  for h in 0..<rows { gram[h * rows + h] += penalties[h] * Double(count) }
  let status = LAPACKE_dposv(
    LAPACK_ROW_MAJOR, CChar(UInt8(ascii: "U")), Int32(rows), Int32(count), &gram, Int32(rows),
    &transposed, Int32(count))
  guard status == 0 else {
    throw DesignError("the directions in \(file) cannot be interpolated; spread them around the sphere")
  }
  return transposed
}

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
  let penalties = (0...order).flatMap { l in
    [Double](repeating: penalty(l) / (4 * .pi), count: 2 * l + 1)
  }
  return try regularisedFit(
    realSphericalHarmonics(order: order, at: directions), shares: shares, penalties: penalties, file: file)
}
