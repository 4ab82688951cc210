import Acoustics

/// The array manifold of a device: how each microphone hears a plane wave from each direction.
package protocol ArrayManifold: Sendable {
  var microphoneCount: Int { get }

  /// Steering vectors for plane waves that come from `directions` (unit vectors of the device frame).
  /// - Parameter frequencies: in hertz.
  /// - Returns: shape `[frequency][microphone][direction]`, relative to the free field at the origin.
  /// - Convention: e^(+jωt): a microphone nearer to the source has the greater phase.
  func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid
}

/// The manifold that designs for `device` use.
///
/// A box is treated as the free field for now: its filters keep left, right and delays, but lose front and
/// back above 1 kHz, where the body's shadow matters.
package func manifold(for device: Device) -> any ArrayManifold {
  let positions = device.microphones.map(\.position)
  return switch device.body {
  case .free, .box: FreeFieldManifold(positions: positions)
  case .sphere(let radius): RigidSphereManifold(positions: positions, radius: radius)
  }
}
