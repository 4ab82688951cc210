import Acoustics
import Numerics

/// An array manifold that computes the responses from a sphere of directions once, for all cases of a design: where the
/// requested directions are that sphere in another order, as for a listener whose head is turned by right angles, the
/// responses are rearranged.
package struct SharedManifold: ArrayManifold {
  private let base: any ArrayManifold
  private let frequencies: [Double]
  /// The responses from the sphere.
  package let responses: ResponseGrid
  /// Index in `responses` of each direction, by its key.
  private let indices: [SIMD3<Int>: Int]

  package var positions: [Position] { base.positions }
  package var band: ClosedRange<Double> { base.band }
  package var remarks: [String] { base.remarks }
  package var sphereRadius: Double? { base.sphereRadius }
  package func importance(of directions: [SIMD3<Double>]) -> [Double]? { base.importance(of: directions) }
  package func knows(horizonAround up: SIMD3<Double>) -> Bool { base.knows(horizonAround: up) }

  /// Computes the responses on all cores.
  /// - Parameters:
  ///   - sphere: unit vectors of the device frame.
  ///   - frequencies: in hertz.
  package init(
    _ base: any ArrayManifold, sphere: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) {
    self.base = base
    self.frequencies = frequencies
    indices = [SIMD3<Int>: Int](
      sphere.enumerated().map { (Self.key($0.element), $0.offset) }, uniquingKeysWith: { first, _ in first })
    let keys = base.sharesMirrorImages ? sphere.map { Self.key(abs($0)) } : []
    let order =
      Set(keys).count == keys.count
      ? Array(sphere.indices)
      : sphere.indices.sorted { (keys[$0].x, keys[$0].y, keys[$0].z) < (keys[$1].x, keys[$1].y, keys[$1].z) }
    if base.usesAllCores {
      responses = try base.responses(from: sphere, frequencies: frequencies, step: step)
      return
    }
    let count = (sphere.count + Self.block - 1) / Self.block
    let steps = step.divided(by: [Double](repeating: 1, count: count))
    responses = try ResponseGrid(
      frequencies: frequencies.count, channels: base.microphoneCount, directions: sphere.count
    ) { values throws(DesignError) in
      // Each core writes the directions of its own parts.
      nonisolated(unsafe) let values = values
      try DesignThreads.forEach(count) { i throws(DesignError) in
        let part = Array(order[i * Self.block..<min((i + 1) * Self.block, sphere.count)])
        try base.responses(from: part.map { sphere[$0] }, frequencies: frequencies, step: steps[i])
          .write(to: values, directions: part, of: sphere.count)
        try steps[i].reached(1)
      }
    }
  }

  /// Directions that a core computes at a time.
  private static let block = 64

  /// Where each of these directions is in the responses from the sphere; nil if one is not there, or for other
  /// frequencies.
  package func order(of directions: [SIMD3<Double>], _ frequencies: [Double]) -> [Int]? {
    let order = directions.compactMap { indices[Self.key($0)] }
    return frequencies == self.frequencies && order.count == directions.count ? order : nil
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    base.responses(from: directions, frequencies: frequencies)
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    guard let order = order(of: directions, frequencies) else {
      return try base.responses(from: directions, frequencies: frequencies, step: step)
    }
    try step.check()
    return responses.selecting(directions: order)
  }

  private static func key(_ direction: SIMD3<Double>) -> SIMD3<Int> {
    SIMD3<Int>((direction * 1e6).rounded(.toNearestOrAwayFromZero))
  }
}

/// The magnitude of each component.
private func abs(_ vector: SIMD3<Double>) -> SIMD3<Double> {
  vector.replacing(with: -vector, where: vector .< 0)
}
