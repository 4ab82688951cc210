import CLapack

/// Eigenvalues (ascending, made non-negative) and eigenvectors of a Hermitian positive semidefinite matrix.
package struct HermitianEigen {
  package let order: Int
  package let values: [Double]
  /// Component m of vector j at `[j * order + m]`.
  package let vectors: [Complex]

  /// - Parameter matrix: column by column, shape `[column][row]`.
  package init(matrix: [Complex], order: Int) {
    var vectors = matrix
    var values = [Double](repeating: 0, count: order)
    let status = vectors.withUnsafeMutableBytes { bytes in
      LAPACKE_zheev(
        LAPACK_COL_MAJOR, CChar(UInt8(ascii: "V")), CChar(UInt8(ascii: "U")), Int32(order),
        OpaquePointer(bytes.baseAddress!), Int32(order), &values)
    }
    // zheev fails only on input that is not a number; a zero matrix then makes the design silent there.
    self.order = order
    self.values = status == 0 ? values.map { max(0, $0) } : [Double](repeating: 0, count: order)
    self.vectors = status == 0 ? vectors : [Complex](repeating: .zero, count: order * order)
  }

  /// The components of `vector` along the eigenvectors: Uᴴ·x.
  package func project(_ vector: UnsafePointer<Complex>) -> [Complex] {
    (0..<order).map { j in
      var sum = Complex.zero
      for m in 0..<order { sum += vectors[j * order + m].conjugate * vector[m] }
      return sum
    }
  }

  /// The vector with these `components` along the eigenvectors: U·x.
  package func combine(_ components: [Complex]) -> [Complex] {
    var result = [Complex](repeating: .zero, count: order)
    for j in 0..<order {
      for m in 0..<order { result[m] += components[j] * vectors[j * order + m] }
    }
    return result
  }
}
