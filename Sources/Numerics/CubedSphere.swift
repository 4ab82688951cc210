import Glibc

/// About `count` unit vectors spread evenly over the sphere, each for the same solid angle: a square grid on each face
/// of a cube. A rotation that maps the axes to one another maps the set to itself.
/// - Source: Roșca and Plonka, Uniform spherical grids via equal area projection from the cube to the sphere (2011).
package func cubedSphere(_ count: Int) -> [SIMD3<Double>] {
  let edge = max(1, Int((Double(count) / 6).squareRoot().rounded()))
  let places = (0..<edge).map { Double(2 * $0 + 1) / Double(edge) - 1 }
  return places.flatMap { x in
    places.flatMap { y -> [SIMD3<Double>] in
      let top = onTopFace(x, y)
      return (0..<3).flatMap { axis -> [SIMD3<Double>] in
        let point = SIMD3(top[axis], top[(axis + 1) % 3], top[(axis + 2) % 3])
        return [point, -point]
      }
    }
  }
}

/// The point of the sphere above (x, y) of the cube's top face, −1…1.
private func onTopFace(_ x: Double, _ y: Double) -> SIMD3<Double> {
  let (long, short) = x.magnitude >= y.magnitude ? (x, y) : (y, x)
  // The curved square in the azimuthal equal-area projection; the middle of the face is its centre.
  let angle = long == 0 ? 0 : short * .pi / (12 * long)
  let root = 2.0.squareRoot()
  let scale = pow(2, 0.25) * long / (root - cos(angle)).squareRoot()
  let (along, across) = (scale * (root * cos(angle) - 1), scale * root * sin(angle))
  let square = along * along + across * across
  let radius = (1 - square / 4).squareRoot()
  return x.magnitude >= y.magnitude
    ? [radius * along, radius * across, 1 - square / 2] : [radius * across, radius * along, 1 - square / 2]
}
