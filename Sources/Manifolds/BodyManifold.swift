import Acoustics
import Numerics

/// How sound passes a body: what `BodyShape` leaves to this room. Each body says it beside its manifold.
protocol BodyManifold {
  /// The array manifold of `device`, which has this body, that filter designs use.
  func manifold(for device: Device, step: DesignStep) throws(DesignError) -> any ArrayManifold

  /// The array manifold that verifies designs, whatever the device's design parameters.
  func referenceManifold(
    for device: Device, solutions: BoxSolutions?, step: DesignStep
  ) throws(DesignError) -> any ArrayManifold
}

extension BodyManifold {
  /// A closed form is its own reference.
  func referenceManifold(
    for device: Device, solutions: BoxSolutions?, step: DesignStep
  ) throws(DesignError) -> any ArrayManifold {
    try manifold(for: device, step: step)
  }
}

extension Body {
  fileprivate var model: any BodyManifold {
    switch self {
    case .free: FreeField()
    case .sphere(let sphere): sphere
    case .cylinder(let cylinder): cylinder
    case .box(let box): box
    case .measured(let measurement): measurement
    }
  }
}

/// The array manifold of `device` that filter designs use.
/// - Parameter progress: called with the solved fraction of a box, 0…1, from any thread, one call at a time. It is not
///   called for other bodies or for a box that is still cached.
/// - Throws: `DesignError` if a measurement cannot be used or a box cannot be solved.
package func manifold(
  for device: Device, progress: (@Sendable (Double) -> Void)? = nil
) throws(DesignError) -> any ArrayManifold {
  try manifold(for: device, step: DesignStep(report: progress))
}

package func manifold(for device: Device, step: DesignStep) throws(DesignError) -> any ArrayManifold {
  try device.body.model.manifold(for: device, step: step)
}

/// The array manifold that verifies designs for `device`, whatever its design parameters. Boxes are solved on a finer
/// mesh than designs use by default.
/// - Parameters:
///   - solutions: solved boxes on disk; nil for none.
///   - progress: as for `manifold(for:progress:)`.
package func referenceManifold(
  for device: Device, solutions: BoxSolutions? = nil, progress: (@Sendable (Double) -> Void)? = nil
) throws(DesignError) -> any ArrayManifold {
  try device.body.model.referenceManifold(
    for: device, solutions: solutions, step: DesignStep(report: progress))
}
