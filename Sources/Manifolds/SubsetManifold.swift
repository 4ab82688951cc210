import Acoustics
import Numerics

/// Some microphones of an array.
package struct SubsetManifold: ArrayManifold {
  private let base: any ArrayManifold
  private let subset: [Int]

  /// - Parameter subset: their channels in `base`.
  package init(_ base: any ArrayManifold, subset: [Int]) {
    self.base = base
    self.subset = subset
  }

  package var positions: [Position] { subset.map { base.positions[$0] } }
  package var band: ClosedRange<Double> { base.band }
  package var sharesMirrorImages: Bool { base.sharesMirrorImages }
  package var usesAllCores: Bool { base.usesAllCores }
  package func importance(of directions: [SIMD3<Double>]) -> [Double]? { base.importance(of: directions) }
  package var remarks: [String] { base.remarks }
  package func knows(horizonAround up: SIMD3<Double>) -> Bool { base.knows(horizonAround: up) }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    base.responses(from: directions, frequencies: frequencies).selecting(channels: subset)
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    try base.responses(from: directions, frequencies: frequencies, step: step).selecting(channels: subset)
  }
}
