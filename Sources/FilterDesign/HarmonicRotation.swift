import Acoustics
import Numerics

/// The rotation of B-format: the channels that a turned listener hears, as sums of those of one that is not.
package enum HarmonicRotation {
  /// - Returns: gains `[channel][channel before]`. They are zero between different degrees.
  package static func gains(order: Int, pose: Pose, of frame: HeadFrame) -> [[Double]] {
    // The product of two harmonics has at most twice their degree, for which the quadrature is exact.
    let (directions, weights) = gaussSphere(latitudes: order + 1)
    let before = SphericalHarmonicTargets(order: order, frame: frame, directions: directions)
    let after = SphericalHarmonicTargets(order: order, frame: frame.turned(by: pose), directions: directions)
    let area = weights.reduce(0, +)
    return (0..<before.channels).map { row in
      (0..<before.channels).map { column in
        let degree = SphericalHarmonicTargets.degree(row)
        guard degree == SphericalHarmonicTargets.degree(column) else { return 0 }
        let sum = directions.indices.reduce(0) {
          $0 + weights[$1] * after.values[row * directions.count + $1]
            * before.values[column * directions.count + $1]
        }
        return sum / area / SphericalHarmonicTargets.diffuseEnergy(row)
      }
    }
  }
}
