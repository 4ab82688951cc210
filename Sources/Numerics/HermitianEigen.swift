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
    let isSolved = vectors.withUnsafeMutableBufferPointer {
      Self.decompose($0.baseAddress!, order: order, values: &values)
    }
    // zheev fails only on input that is not a number; a zero matrix then makes the design silent there.
    self.order = order
    self.values = isSolved ? values.map { max(0, $0) } : [Double](repeating: 0, count: order)
    self.vectors = isSolved ? vectors : [Complex](repeating: .zero, count: order * order)
  }

  /// In place: `matrix` becomes its eigenvectors.
  ///
  /// The lower triangle is what counts, because of a defect of OpenBLAS 0.3.21, Debian 12's: on processors with AVX its
  /// `zgemv_n` loads one element of x too many, a whole stride behind the last one. From order 33 on zheev gives it rows
  /// of the matrix and of its workspace as x. With the upper triangle these rows reach to the last column, and the load
  /// is outside the buffers; with the lower one they begin in the first column and end before the current one.
  /// - Source: OpenBLAS issue 4013; zhetrd and zlatrd of LAPACK 3.11.
  package static func decompose(
    _ matrix: UnsafeMutablePointer<Complex>, order: Int, values: UnsafeMutablePointer<Double>
  ) -> Bool {
    LAPACKE_zheev(
      LAPACK_COL_MAJOR, CChar(UInt8(ascii: "V")), CChar(UInt8(ascii: "L")), Int32(order),
      OpaquePointer(matrix), Int32(order), values) == 0
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
