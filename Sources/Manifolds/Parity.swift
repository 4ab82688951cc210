import Numerics

/// Parity decomposition with respect to the three mirror planes of a box. Splitting a field into its eight parity
/// sectors decouples the boundary-element equations.
///
/// Bit a of a sector index is set if the field is odd along axis a. Bit a of an image index is set if a panel is
/// mirrored along axis a. The pressure on a panel's image is that on the panel times `sign(sector, image)`.
enum Parity {
  static let count = 8

  /// Of the pressure on an image relative to that on the panel, `[image][sector]`: −1 for an odd number of odd axes.
  static let signs = (0..<count * count).map {
    ($0 / count & $0 % count).nonzeroBitCount.isMultiple(of: 2) ? 1.0 : -1
  }

  /// The signs of the mirror image along each axis: 1 or −1.
  static func mirror(_ image: Int) -> SIMD3<Double> {
    [image & 1 == 0 ? 1 : -1, image & 2 == 0 ? 1 : -1, image & 4 == 0 ? 1 : -1]
  }

  /// Transforms eight planes of values from images to sectors in place: Σ sign(sector, image) × plane. This is a
  /// Walsh–Hadamard transform.
  static func sectors(_ values: UnsafeMutablePointer<Complex>, plane: Int) {
    for step in [1, 2, 4] {
      for low in 0..<count where low & step == 0 {
        let a = values + low * plane
        let b = values + (low + step) * plane
        for i in 0..<plane {
          let (x, y) = (a[i], b[i])
          a[i] = x + y
          b[i] = x - y
        }
      }
    }
  }
}
