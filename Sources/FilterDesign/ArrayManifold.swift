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
/// - Parameter progress: called with what part of a box is solved, 0…1, from any thread, one call at a time; not
///   at all for other bodies, nor for a box that was solved a short while ago.
package func manifold(
  for device: Device, progress: (@Sendable (Double) -> Void)? = nil
) throws(DesignError) -> any ArrayManifold {
  let positions = device.microphones.map(\.position)
  return switch device.body {
  case .free: FreeFieldManifold(positions: positions)
  case .sphere(let radius): RigidSphereManifold(positions: positions, radius: radius)
  case .box(let size): try BoxManifold.solved(positions: positions, size: size, progress: progress)
  case .measured(let measurement): try MeasuredManifold(measurement, positions: positions)
  }
}

/// A manifold to hold designs against: that of a box is solved on a finer mesh than any design's.
package func referenceManifold(
  for device: Device, progress: (@Sendable (Double) -> Void)? = nil
) throws(DesignError) -> any ArrayManifold {
  guard case .box(let size) = device.body else { return try manifold(for: device) }
  return try BoxManifold.solved(
    positions: device.microphones.map(\.position), size: size, panelWidth: BoxManifold.finePanelWidth,
    progress: progress)
}
