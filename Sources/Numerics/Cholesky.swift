import CLapack

/// Cholesky factorisation of symmetric positive definite matrices.
///
/// Only the upper triangle is used, in row-major order. LAPACK sees it as the lower triangle in column-major order, so
/// nothing is copied or transposed.
package enum Cholesky {
  /// Columns per block. Cancellation is checked after each; with 4096 unknowns a block takes 0.2 s.
  private static let block = 256

  /// Factors a small matrix in place, in one call.
  /// - Returns: false if the matrix is not positive definite.
  package static func factor(_ matrix: UnsafeMutablePointer<Double>, order: Int) -> Bool {
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), Int32(order), matrix, Int32(order)) == 0
  }

  /// Factors a large matrix in place, block by block, with progress and cancellation.
  /// - Returns: false if the matrix is not positive definite.
  package static func factor(
    _ matrix: UnsafeMutablePointer<Double>, order: Int, step: DesignStep
  ) throws(DesignError) -> Bool {
    let stride = Int32(order)
    for first in Swift.stride(from: 0, to: order, by: block) {
      try step.reached(Double(first) / Double(order))
      let size = min(block, order - first)
      let remaining = order - first - size
      let corner = matrix + first * order + first
      guard
        LAPACKE_dpotrf(LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), Int32(size), corner, stride) == 0
      else { return false }
      guard remaining > 0 else { return true }
      let below = corner + size
      cblas_dtrsm(
        CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, Int32(remaining), Int32(size), 1,
        corner,
        stride, below, stride)
      cblas_dsyrk(
        CblasColMajor, CblasLower, CblasNoTrans, Int32(remaining), Int32(size), -1, below, stride, 1,
        below + size * order, stride)
    }
    return true
  }

  /// Solves the linear system for one right-hand side, in place.
  /// - Parameter factor: the matrix as factored by `factor(_:order:)`.
  package static func solve(
    _ factor: UnsafePointer<Double>, order: Int, _ right: UnsafeMutablePointer<Double>
  ) {
    _ = LAPACKE_dpotrs_work(
      LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), Int32(order), 1, factor, Int32(order), right, Int32(order))
  }
}
