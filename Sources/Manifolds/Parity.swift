import Numerics

/// Parity decomposition with respect to the three mirror planes of a box. Splitting a field into its eight parity
/// sectors decouples the boundary-element equations.
///
/// Bit a of a sector index is set if the field is odd along axis a. Bit a of an image index is set if a panel is
/// mirrored along axis a. The pressure on a panel's image is that on the panel times sign(sector, image): −1 for an odd
/// number of odd axes that are mirrored.
enum Parity {
  static let count = 8

  /// The signs of the mirror image along each axis: 1 or −1.
  static func mirror(_ image: Int) -> SIMD3<Double> {
    [image & 1 == 0 ? 1 : -1, image & 2 == 0 ? 1 : -1, image & 4 == 0 ? 1 : -1]
  }

  /// Indices of the positions that hear something of a sector: those on no plane in which its field is odd.
  static func hearing(_ sector: Int, _ positions: [SIMD3<Double>]) -> [Int] {
    positions.indices.filter { i in
      (0..<3).allSatisfy { sector & 1 << $0 == 0 || positions[i][$0] != 0 }
    }
  }

  /// Transforms eight planes of values from images to sectors in place: Σ sign(sector, image) × plane. This is a
  /// Walsh–Hadamard transform.
  static func sectors(_ values: UnsafeMutablePointer<Complex>, plane: Int) {
    for i in 0..<plane {
      let at = values + i
      func sums(_ first: Int) -> (Complex, Complex, Complex, Complex) {
        let (a, b) = (at[first * plane], at[(first + 1) * plane])
        let (c, d) = (at[(first + 2) * plane], at[(first + 3) * plane])
        let (e, f, g, h) = (a + b, a - b, c + d, c - d)
        return (e + g, f + h, e - g, f - h)
      }
      let (low, high) = (sums(0), sums(4))
      (at[0], at[4 * plane]) = (low.0 + high.0, low.0 - high.0)
      (at[plane], at[5 * plane]) = (low.1 + high.1, low.1 - high.1)
      (at[2 * plane], at[6 * plane]) = (low.2 + high.2, low.2 - high.2)
      (at[3 * plane], at[7 * plane]) = (low.3 + high.3, low.3 - high.3)
    }
  }
}
