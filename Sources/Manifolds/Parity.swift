/// The eight ways of a field to be even or odd in the three mirrors of a box.
///
/// Bit a of a sector says that the field is odd along axis a; bit a of an image says that a panel is mirrored
/// along it. A panel's image has the panel's pressure times `sign(sector, image)`.
enum Parity {
  static let count = 8

  /// 1 or −1 along each axis.
  static func mirror(_ image: Int) -> SIMD3<Double> {
    [image & 1 == 0 ? 1 : -1, image & 2 == 0 ? 1 : -1, image & 4 == 0 ? 1 : -1]
  }

  /// Turns eight planes by image into eight planes by sector, Σ sign(sector, image) × plane, in place.
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
