import Acoustics
import Numerics
import Synchronization

extension BoxManifold {
  /// Number of cached boxes. Designs, figures and reports of one device usually follow one another.
  private static let cacheSize = 4
  /// Most recently solved boxes, the oldest first. `positions` are those requested, before they are moved to the
  /// surface.
  private static let cache = Mutex(
    [(positions: [Position], parameters: DesignParameters.Box, manifold: BoxManifold)]())

  /// The manifold of this box, from the cache if it is one of the last few that were solved.
  /// - Parameter solutions: solved boxes on disk, of which this may be one; it is stored there if it is not. Nil for none.
  package static func solved(
    positions: [Position], size: SIMD3<Double>, parameters: DesignParameters.Box = .init(),
    solutions: BoxSolutions? = nil, step: DesignStep = .unobserved
  ) throws(DesignError) -> BoxManifold {
    let cached = cache.withLock { cache in
      cache.first { $0.positions == positions && $0.manifold.size == size && $0.parameters == parameters }?
        .manifold
    }
    if let cached { return cached }
    let manifold = try BoxManifold(
      positions: positions, size: size, parameters: parameters, solutions: solutions, step: step)
    cache.withLock { cache in
      cache.append((positions, parameters, manifold))
      if cache.count > cacheSize { cache.removeFirst() }
    }
    return manifold
  }
}

extension RigidBox: BodyManifold {
  func manifold(for device: Device, step: DesignStep) throws(DesignError) -> any ArrayManifold {
    try BoxManifold.solved(
      positions: device.microphones.map(\.position), size: size, parameters: device.design.box, step: step)
  }

  func referenceManifold(
    for device: Device, solutions: BoxSolutions?, step: DesignStep
  ) throws(DesignError) -> any ArrayManifold {
    try BoxManifold.solved(
      positions: device.microphones.map(\.position), size: size, parameters: BoxManifold.reference,
      solutions: solutions, step: step)
  }
}
