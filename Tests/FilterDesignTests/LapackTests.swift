import Figures
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// Pinna's uses of LAPACK for arrays of 1 to 64 microphones: correct, and within their buffers. If a routine
/// exceeds a buffer, the process of an exit test crashes.
@Suite("Use of LAPACK") struct LapackTests {
  static let orders = 1...64

  /// The circulant matrix with eigenvalues 1, 2 … n along the Fourier vectors; `[column][row]`.
  static func circulant(_ order: Int) -> [Complex] {
    let row = (0..<order).map { shift -> Complex in
      (0..<order).reduce(Complex.zero) { sum, j -> Complex in
        let turn = Complex(phase: 2 * Double.pi * Double(j * shift % order) / Double(order))
        return sum + (Double(j + 1) / Double(order)) * turn
      }
    }
    return (0..<order).flatMap { column in
      (0..<order).map { row[($0 - column + order) % order] }
    }
  }

  @Test(
    "eigenvalues and eigenvectors of circulant matrices are those of the Fourier transform", arguments: orders
  ) func circulant(
    order: Int
  ) {
    let eigen = HermitianEigen(matrix: Self.circulant(order), order: order)
    for j in 0..<order {
      #expect(abs(eigen.values[j] - Double(j + 1)) < 1e-11)
      // Up to a phase: e^(2πi jm/n)/√n.
      let vector = eigen.vectors[j * order..<(j + 1) * order]
      let overlap = vector.enumerated().reduce(Complex.zero) { sum, entry -> Complex in
        let phase = -2 * Double.pi * Double(j * entry.offset % order) / Double(order)
        return sum + Complex(phase: phase) * entry.element
      }
      #expect(abs(overlap.magnitude / Double(order).squareRoot() - 1) < 1e-11)
    }
  }

  @Test("eigenvectors are computed within their buffers") func eigenvectorBuffers() async {
    await #expect(processExitsWith: .success) {
      for order in LapackTests.orders {
        let matrix = GuardedMemory<Complex>(count: order * order)
        let values = GuardedMemory<Double>(count: order)
        for (n, value) in LapackTests.circulant(order).enumerated() { matrix.elements[n] = value }
        precondition(HermitianEigen.decompose(matrix.elements, order: order, values: values.elements))
        precondition(abs(values.elements[order - 1] - Double(order)) < 1e-9)
      }
    }
  }

  /// With B = 2 the eigenvalues are halved.
  @Test("generalised eigenvectors are computed within their buffers") func generalisedBuffers() async {
    await #expect(processExitsWith: .success) {
      for order in LapackTests.orders {
        let (a, b) = (
          GuardedMemory<Complex>(count: order * order), GuardedMemory<Complex>(count: order * order)
        )
        let values = GuardedMemory<Double>(count: order)
        for (n, value) in LapackTests.circulant(order).enumerated() {
          a.elements[n] = value
          b.elements[n] = Complex(n % (order + 1) == 0 ? 2 : 0, 0)
        }
        precondition(
          EnergyCeiling.decompose(a.elements, over: b.elements, order: order, values: values.elements))
        for j in 0..<order { precondition(abs(values.elements[j] - Double(j + 1) / 2) < 1e-9) }
      }
    }
  }

  /// Systems of the joint design, with four unknowns per microphone: order·1 plus a matrix of ones, whose rows
  /// sum to twice the order.
  @Test("definite systems are solved within their buffers") func choleskyBuffers() async {
    await #expect(processExitsWith: .success) {
      for order in LapackTests.orders.map({ 4 * $0 }) {
        let matrix = GuardedMemory<Double>(count: order * order)
        let right = GuardedMemory<Double>(count: order)
        for n in 0..<order * order {
          matrix.elements[n] = n % (order + 1) == 0 ? Double(order + 1) : 1
        }
        for n in 0..<order { right.elements[n] = Double(order) }
        precondition(Cholesky.factor(matrix.elements, order: order))
        Cholesky.solve(matrix.elements, order: order, right.elements)
        for n in 0..<order { precondition(abs(right.elements[n] - 0.5) < 1e-12) }
      }
    }
  }

  /// `solve` may read one equation more than there are, as it documents. With interior points and without.
  @Test("the equations of boxes are solved within their buffers") func boxBuffers() async {
    await #expect(processExitsWith: .success) {
      for unknowns in [1, 2, 3, 5, 8, 16, 31, 32, 33, 63, 64, 65, 100, 243, 800] {
        for rows in [unknowns, unknowns + 16] {
          let matrix = GuardedMemory<Complex>(count: (rows + 1) * unknowns)
          let right = GuardedMemory<Complex>(count: 2 * rows)
          for n in 0..<rows * unknowns {
            matrix.elements[n] = Complex(sin(Double(n)), cos(Double(3 * n)))
            if n % (unknowns + 1) == 0 { matrix.elements[n].real += Double(unknowns) }
          }
          for n in 0..<2 * rows { right.elements[n] = Complex(1, Double(n)) }
          precondition(
            BoundaryElements.solve(
              matrix.elements, unknowns: unknowns, rows: rows, OpaquePointer(right.elements), count: 2) == 0)
        }
      }
    }
  }
}
