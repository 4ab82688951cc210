import CLapack

@inlinable package func mean(_ values: [Double]) -> Double {
  values.reduce(0, +) / Double(max(1, values.count))
}

/// The product of two row-major matrices.
package func multiply(
  _ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>, rows: Int, inner: Int, columns: Int,
  into product: inout [Double]
) {
  cblas_dgemm(
    CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), Int32(columns), Int32(inner), 1, a, Int32(inner),
    b, Int32(columns), 0, &product, Int32(columns))
}

/// The product of two row-major matrices, as a new one, which is not filled with zeros first.
package func product(_ a: [Double], _ b: [Double], rows: Int, inner: Int, columns: Int) -> [Double] {
  [Double](unsafeUninitializedCapacity: rows * columns) { product, size in
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), Int32(columns), Int32(inner), 1, a,
      Int32(inner),
      b, Int32(columns), 0, product.baseAddress!, Int32(columns))
    size = rows * columns
  }
}

/// Writes the transpose of the product of two row-major matrices to `product`: `[column][row]`.
package func transposedProduct(
  _ a: [Double], _ b: [Double], rows: Int, inner: Int, columns: Int,
  into product: UnsafeMutablePointer<Double>
) {
  cblas_dgemm(
    CblasRowMajor, CblasTrans, CblasTrans, Int32(columns), Int32(rows), Int32(inner), 1, b, Int32(columns),
    a, Int32(inner), 0, product, Int32(rows))
}
