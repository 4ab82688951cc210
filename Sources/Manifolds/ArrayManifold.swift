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

  /// Radius of the rigid sphere around the origin on which all microphones lie, in metres; nil if they do not.
  var sphereRadius: Double? { get }

  /// Whether directions that are mirror images cost less together.
  var sharesMirrorImages: Bool { get }

  /// Whether the responses from many directions are computed on all cores.
  var usesAllCores: Bool { get }

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
  package var sphereRadius: Double? { nil }
  package var sharesMirrorImages: Bool { false }
  package var usesAllCores: Bool { false }

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
  private static var block: Int { 64 }

  /// - Parameters:
  ///   - frequencies: number of frequencies.
  ///   - responses: the responses from some of the directions.
  func inBlocks(
    of directions: [SIMD3<Double>], frequencies: Int, step: DesignStep,
    responses: ([SIMD3<Double>]) -> ResponseGrid
  ) throws(DesignError) -> ResponseGrid {
    if directions.count <= Self.block {
      try step.check()
      return responses(directions)
    }
    return try ResponseGrid(
      frequencies: frequencies, channels: microphoneCount, directions: directions.count
    ) { values throws(DesignError) in
      for first in stride(from: 0, to: directions.count, by: Self.block) {
        try step.reached(Double(first) / Double(directions.count))
        let block = Array(directions[first..<min(first + Self.block, directions.count)])
        responses(block).write(to: values, directions: first..<first + block.count, of: directions.count)
      }
    }
  }
}

extension ResponseGrid {
  /// Writes these responses to the directions of these indices in the values of a grid of the same frequencies and
  /// channels, which has `count` directions.
  func write(to values: UnsafeMutablePointer<Complex>, directions order: some Collection<Int>, of count: Int)
  {
    let order = Array(order)
    let isRun = zip(order, order.dropFirst()).allSatisfy { $1 == $0 + 1 }
    self.values.withUnsafeBufferPointer { own in
      for row in 0..<frequencies * channels {
        let (to, from) = (values + row * count, own.baseAddress! + row * order.count)
        if isRun {
          (to + order[0]).update(from: from, count: order.count)
        } else {
          for (i, direction) in order.enumerated() { to[direction] = from[i] }
        }
      }
    }
  }
}
