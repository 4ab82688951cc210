import Numerics

/// A small Hermitian matrix, row by row.
package struct HermitianMatrix {
  package let order: Int
  package var values: [Complex]

  /// The mean of the outer products of the steering vectors of all directions: the covariance of diffuse sound.
  /// - Parameter loading: added to the diagonal, relative to its mean.
  static func diffuse(_ responses: ResponseGrid, _ bin: Int, loading: Double) -> HermitianMatrix {
    let order = responses.channels
    var values = [Complex](repeating: .zero, count: order * order)
    for d in 0..<responses.directions {
      for i in 0..<order {
        for j in 0..<order {
          values[i * order + j] += responses[bin, i, d] * responses[bin, j, d].conjugate
        }
      }
    }
    let scale = 1 / Double(responses.directions)
    values = values.map { scale * $0 }
    let mean = (0..<order).reduce(0) { $0 + values[$1 * order + $1].real } / Double(order)
    for i in 0..<order { values[i * order + i].real += loading * mean }
    return HermitianMatrix(order: order, values: values)
  }

  package init(order: Int, values: [Complex]) { (self.order, self.values) = (order, values) }

  /// vvᴴ
  package init(outer vector: [Complex]) {
    order = vector.count
    values = vector.flatMap { a in vector.map { a * $0.conjugate } }
  }

  /// By elimination without pivots, for positive definite matrices.
  package var inverse: HermitianMatrix {
    var (left, right) = (values, [Complex](repeating: .zero, count: order * order))
    for i in 0..<order { right[i * order + i] = .one }
    for column in 0..<order {
      let pivot = Complex.one / left[column * order + column]
      for j in 0..<order {
        left[column * order + j] *= pivot
        right[column * order + j] *= pivot
      }
      for i in 0..<order where i != column {
        let factor = left[i * order + column]
        for j in 0..<order {
          left[i * order + j] = left[i * order + j] - factor * left[column * order + j]
          right[i * order + j] = right[i * order + j] - factor * right[column * order + j]
        }
      }
    }
    return HermitianMatrix(order: order, values: right)
  }

  func times(_ vector: [Complex]) -> [Complex] {
    (0..<order).map { i in (0..<order).reduce(.zero) { $0 + values[i * order + $1] * vector[$1] } }
  }

  /// The real numbers q whose sum of products with the `terms` of a covariance C = E[xxᴴ] is the trace of this matrix
  /// times C: `[order²]`. The diagonal stands on the diagonal, real parts above and imaginary parts below it.
  package var quadratic: [Double] {
    var result = [Double](repeating: 0, count: order * order)
    for i in 0..<order {
      result[i * order + i] = values[i * order + i].real
      for j in i + 1..<max(order, i + 1) where j < order {
        // v_ij C_ji + v_ji C_ij = 2 Re(v_ij) Re(C_ij) + 2 Im(v_ij) Im(C_ij)
        result[i * order + j] = 2 * values[i * order + j].real
        result[j * order + i] = 2 * values[i * order + j].imaginary
      }
    }
    return result
  }
}
