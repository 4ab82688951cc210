import Acoustics
import Manifolds
import Numerics

/// Some microphones of an array.
struct SubsetManifold: ArrayManifold {
  let base: any ArrayManifold
  let subset: [Int]

  var positions: [Position] { subset.map { base.positions[$0] } }
  var band: ClosedRange<Double> { base.band }

  func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    base.responses(from: directions, frequencies: frequencies).selecting(channels: subset)
  }
}
