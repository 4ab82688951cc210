import Acoustics
import Numerics

/// The array manifold of a device: the complex response of each microphone to a plane wave from each direction.
package protocol ArrayManifold: Sendable {
  /// Of the microphones, in metres, relative to the origin of `responses`.
  var positions: [Position] { get }

  /// The frequencies in hertz at which `responses` is more than an extrapolation.
  var band: ClosedRange<Double> { get }

  /// What a direction counts in a design, for unit vectors of the device frame; nil if all count the same.
  func importance(of directions: [SIMD3<Double>]) -> [Double]?

  /// Whether the directions around a listener are known whose head points `up`, a unit vector of the device frame.
  func knows(horizonAround up: SIMD3<Double>) -> Bool

  /// What the reader of a design must know about it; each continues "the array was".
  var remarks: [String] { get }

  /// Steering vectors for plane waves.
  /// - Parameters:
  ///   - directions: unit vectors towards the sources, in the device frame.
  ///   - frequencies: in hertz.
  /// - Returns: shape `[frequency][microphone][direction]`, relative to the free field at the origin. Sign convention
  ///   e^(+jωt): a microphone nearer to the source has the greater phase.
  func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid

  /// The same, computed block by block so that `step` can report progress and cancel the computation.
  func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid
}

extension ArrayManifold {
  package var microphoneCount: Int { positions.count }

  /// A model covers all frequencies.
  package var band: ClosedRange<Double> { 0 ... .infinity }

  package func importance(of directions: [SIMD3<Double>]) -> [Double]? { nil }
  package func knows(horizonAround up: SIMD3<Double>) -> Bool { true }
  package var remarks: [String] { [] }

  /// The square root of what each direction counts, relative to the mean: factors of responses and targets in least
  /// squares.
  package func amplitudes(of directions: [SIMD3<Double>]) -> [Double] {
    guard let importance = importance(of: directions) else {
      return [Double](repeating: 1, count: directions.count)
    }
    let mean = mean(importance)
    return importance.map { ($0 / mean).squareRoot() }
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    try inBlocks(of: directions, frequencies: frequencies.count, step: step) {
      responses(from: $0, frequencies: frequencies)
    }
  }

  /// Directions per block. Cancellation is checked and progress reported between blocks.
  private static var block: Int { 32 }

  /// - Parameters:
  ///   - frequencies: number of frequencies.
  ///   - responses: the responses from some of the directions.
  func inBlocks(
    of directions: [SIMD3<Double>], frequencies: Int, step: DesignStep,
    responses: ([SIMD3<Double>]) -> ResponseGrid
  ) throws(DesignError) -> ResponseGrid {
    var grid = ResponseGrid(
      frequencies: frequencies, channels: microphoneCount, directions: directions.count)
    for first in stride(from: 0, to: directions.count, by: Self.block) {
      try step.reached(Double(first) / Double(directions.count))
      let block = Array(directions[first..<min(first + Self.block, directions.count)])
      grid.replace(directionsFrom: first, with: responses(block))
    }
    return grid
  }
}

extension ResponseGrid {
  /// Replaces the directions from index `first` on with those of `part`, which has the same frequencies and channels.
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
  let positions = device.microphones.map(\.position)
  return switch device.body {
  case .free: FreeFieldManifold(device.microphones)
  case .sphere(let radius): RigidSphereManifold(positions: positions, radius: radius)
  case .cylinder(let radius): RigidCylinderManifold(positions: positions, radius: radius)
  case .box(let size):
    try BoxManifold.solved(positions: positions, size: size, parameters: device.design.box, step: step)
  case .measured(let measurement):
    try measuredManifold(measurement, of: device, parameters: device.design.measured)
  }
}

/// The manifold of a measured device, of which some microphones may be missing.
private func measuredManifold(
  _ measurement: ArrayMeasurement, of device: Device, parameters: DesignParameters.Measured
) throws(DesignError) -> any ArrayManifold {
  guard let all = device.measuredMicrophones else {
    return try MeasuredManifold(
      measurement, positions: device.microphones.map(\.position), parameters: parameters)
  }
  let whole = try MeasuredManifold(measurement, positions: all.map(\.position), parameters: parameters)
  let names = Set(device.microphones.map(\.name))
  return SubsetManifold(whole, subset: all.indices.filter { names.contains(all[$0].name) })
}

/// The array manifold that verifies designs for `device`, whatever its design parameters. Boxes are solved on a finer
/// mesh than designs use by default.
/// - Parameters:
///   - solutions: solved boxes on disk; nil for none.
///   - progress: as for `manifold(for:progress:)`.
package func referenceManifold(
  for device: Device, solutions: BoxSolutions? = nil, progress: (@Sendable (Double) -> Void)? = nil
) throws(DesignError) -> any ArrayManifold {
  let positions = device.microphones.map(\.position)
  return switch device.body {
  case .free, .sphere, .cylinder: try manifold(for: device)
  case .box(let size):
    try BoxManifold.solved(
      positions: positions, size: size, parameters: BoxManifold.reference, solutions: solutions,
      step: DesignStep(report: progress))
  case .measured(let measurement): try measuredManifold(measurement, of: device, parameters: .init())
  }
}
