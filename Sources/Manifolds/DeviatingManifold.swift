import Acoustics
import Numerics

/// The array manifold of an array whose microphones deviate from their model.
package struct DeviatingManifold: ArrayManifold {
  private let base: any ArrayManifold
  private let deviations: [Deviation]

  package var positions: [Position] { base.positions }
  package var band: ClosedRange<Double> { base.band }
  package var sharesMirrorImages: Bool { base.sharesMirrorImages }
  package var usesAllCores: Bool { base.usesAllCores }
  package var remarks: [String] { base.remarks }
  package func importance(of directions: [SIMD3<Double>]) -> [Double]? { base.importance(of: directions) }
  package func knows(horizonAround up: SIMD3<Double>) -> Bool { base.knows(horizonAround: up) }

  /// - Parameter deviations: one per microphone.
  package init(_ base: any ArrayManifold, deviations: [Deviation]) {
    precondition(deviations.count == base.microphoneCount, "one deviation per microphone")
    self.base = base
    self.deviations = deviations
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    deviating(base.responses(from: directions, frequencies: frequencies), frequencies)
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    deviating(try base.responses(from: directions, frequencies: frequencies, step: step), frequencies)
  }

  private func deviating(_ grid: ResponseGrid, _ frequencies: [Double]) -> ResponseGrid {
    var grid = grid
    for (f, frequency) in frequencies.enumerated() {
      for (m, deviation) in deviations.enumerated() where deviation != .none {
        let factor = deviation.factor * Complex(phase: -2 * .pi * frequency * deviation.delay)
        for d in 0..<grid.directions { grid[f, m, d] = factor * grid[f, m, d] }
      }
    }
    return grid
  }
}
