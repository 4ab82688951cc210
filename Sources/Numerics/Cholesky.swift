import CLapack

/// Cholesky factors of symmetric positive definite matrices, of which the upper triangle counts, row by row: what
/// LAPACK takes for the lower one, column by column. So nothing is copied and transposed.
package enum Cholesky {
  /// Columns at a time, between looks at the step: with 4096 unknowns a block takes 0.2 s.
  private static let block = 256

  /// In place and at once, for small matrices; false where the matrix is not positive definite.
  package static func factor(_ matrix: UnsafeMutablePointer<Double>, order: Int) -> Bool {
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), Int32(order), matrix, Int32(order)) == 0
  }

  /// In place; false where the matrix is not positive definite.
  static func factor(
    _ matrix: UnsafeMutablePointer<Double>, order: Int, step: DesignStep
  ) throws(DesignError) -> Bool {
    let stride = Int32(order)
    for first in Swift.stride(from: 0, to: order, by: block) {
      try step.reached(Double(first) / Double(order))
      let size = min(block, order - first)
      let rest = order - first - size
      let corner = matrix + first * order + first
      guard
        LAPACKE_dpotrf(LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), Int32(size), corner, stride) == 0
      else { return false }
      guard rest > 0 else { return true }
      let below = corner + size
      cblas_dtrsm(
        CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, Int32(rest), Int32(size), 1, corner,
        stride, below, stride)
      cblas_dsyrk(
        CblasColMajor, CblasLower, CblasNoTrans, Int32(rest), Int32(size), -1, below, stride, 1,
        below + size * order, stride)
    }
    return true
  }

  /// In place of `right` the solution for it.
  package static func solve(
    _ factor: UnsafePointer<Double>, order: Int, _ right: UnsafeMutablePointer<Double>
  ) {
    _ = LAPACKE_dpotrs_work(
      LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), Int32(order), 1, factor, Int32(order), right, Int32(order))
  }
}
