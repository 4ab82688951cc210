import CLapack
import Glibc

/// Eigenvalues (ascending, clamped to be non-negative) and eigenvectors of a Hermitian positive semidefinite matrix.
package struct HermitianEigen: Sendable {
  package let order: Int
  package let values: [Double]
  /// Component m of eigenvector j is at `[j * order + m]`.
  package let vectors: [Complex]

  /// - Parameter matrix: column-major, shape `[column][row]`.
  package init(matrix: [Complex], order: Int) {
    var vectors = matrix
    var values = [Double](repeating: 0, count: order)
    let isSolved = vectors.withUnsafeMutableBufferPointer {
      Self.decompose($0.baseAddress!, order: order, values: &values)
    }
    // zheev fails only on NaN input. A zero matrix then makes the design silent at that frequency.
    self.order = order
    self.values = isSolved ? values.map { max(0, $0) } : [Double](repeating: 0, count: order)
    self.vectors = isSolved ? vectors : [Complex](repeating: .zero, count: order * order)
  }

  /// Replaces `matrix` by its eigenvectors.
  ///
  /// Only the lower triangle is used, because of a defect in OpenBLAS 0.3.21 (Debian 12). On processors with AVX its
  /// `zgemv_n` reads one element of x too many, one stride past the last. From order 33 on, zheev passes rows of the
  /// matrix and of its workspace as x. With the upper triangle these rows reach the last column, so the read is out of
  /// bounds. With the lower triangle they begin in the first column and end before the current one.
  /// - Source: OpenBLAS issue 4013; zhetrd and zlatrd of LAPACK 3.11.
  package static func decompose(
    _ matrix: UnsafeMutablePointer<Complex>, order: Int, values: UnsafeMutablePointer<Double>
  ) -> Bool {
    LAPACKE_zheev(
      LAPACK_COL_MAJOR, CChar(UInt8(ascii: "V")), CChar(UInt8(ascii: "L")), Int32(order),
      OpaquePointer(matrix), Int32(order), values) == 0
  }

  /// Projects `vector` onto the eigenvectors: Uᴴ·x.
  package func project(_ vector: UnsafePointer<Complex>) -> [Complex] {
    vectors.withUnsafeBufferPointer { vectors in
      (0..<order).map { j in
        var sum = Complex.zero
        for m in 0..<order { sum += vectors[j * order + m].conjugate * vector[m] }
        return sum
      }
    }
  }

  /// Combines the eigenvectors with these `components`: U·x.
  package func combine(_ components: [Complex]) -> [Complex] {
    var result = [Complex](repeating: .zero, count: order)
    result.withUnsafeMutableBufferPointer { result in
      vectors.withUnsafeBufferPointer { vectors in
        for j in 0..<order {
          let component = components[j]
          for m in 0..<order { result[m] += component * vectors[j * order + m] }
        }
      }
    }
    return result
  }

  /// The Tikhonov-regularised solution b / (λ + regulariser) of components b along the eigenvectors.
  package func solution(_ components: [Complex], regulariser: Double) -> [Complex] {
    (0..<order).map { (1 / (values[$0] + regulariser)) * components[$0] }
  }
}

/// Finds the smallest regulariser from `smallest` to `largest` that `accepts` approves. The search bisects the logarithm
/// and assumes that every larger regulariser is accepted, too.
/// - Returns: `largest` if none is accepted.
package func smallestRegulariser(
  from smallest: Double, to largest: Double, accepts: (Double) -> Bool
) -> Double {
  if smallest <= 0 || accepts(smallest) { return smallest }
  var low = log(smallest)
  var high = log(largest)
  for _ in 0..<30 {
    let middle = (low + high) / 2
    if accepts(exp(middle)) { high = middle } else { low = middle }
  }
  return exp(high)
}
