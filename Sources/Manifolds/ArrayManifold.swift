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

extension ArrayManifold {
  /// Directions at a time, between looks at the step.
  private static var block: Int { 32 }

  /// The same, in blocks of directions, so that it can be cancelled.
  func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    var grid = ResponseGrid(
      frequencies: frequencies.count, channels: microphoneCount, directions: directions.count)
    for first in stride(from: 0, to: directions.count, by: Self.block) {
      try step.reached(Double(first) / Double(directions.count))
      let some = Array(directions[first..<min(first + Self.block, directions.count)])
      grid.replace(directionsFrom: first, with: responses(from: some, frequencies: frequencies))
    }
    return grid
  }
}

extension ResponseGrid {
  /// Puts `part`, of the same frequencies and channels, in place of as many directions from `first` on.
  fileprivate mutating func replace(directionsFrom first: Int, with part: ResponseGrid) {
    values.withUnsafeMutableBufferPointer { values in
      part.values.withUnsafeBufferPointer { part in
        for row in 0..<frequencies * channels {
          let count = part.count / (frequencies * channels)
          (values.baseAddress! + row * directions + first).update(
            from: part.baseAddress! + row * count, count: count)
        }
      }
    }
  }
}

/// The manifold that designs for `device` use.
/// - Parameter progress: called with what part of a box is solved, 0…1, from any thread, one call at a time; not
///   at all for other bodies, nor for a box that was solved a short while ago.
package func manifold(
  for device: Device, progress: (@Sendable (Double) -> Void)? = nil
) throws(DesignError) -> any ArrayManifold {
  try manifold(for: device, step: DesignStep(report: progress))
}

func manifold(for device: Device, step: DesignStep) throws(DesignError) -> any ArrayManifold {
  let positions = device.microphones.map(\.position)
  return switch device.body {
  case .free: FreeFieldManifold(positions: positions)
  case .sphere(let radius): RigidSphereManifold(positions: positions, radius: radius)
  case .box(let size): try BoxManifold.solved(positions: positions, size: size, step: step)
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
    step: DesignStep(report: progress))
}
