import Acoustics
import FilterDesign
import Glibc
import Manifolds
import Numerics
import Realtime

/// What the analysis of wind knows of an array: how alike its microphones hear sound that comes from everywhere.
///
/// Immutable.
package final class WindTable: Sendable {
  let grid: AnalysisGrid
  let microphones: Int
  /// From 0 to where there is no wind any more.
  let bins: Range<Int>
  /// Of each bin, the part of the wind found there that is taken out.
  let shares: [Float]
  /// Covariances of diffuse sound `[bin][row][column]`, real and imaginary parts in turn. Their diagonals' mean is 1.
  let diffuse: [Float]
  private let manifold: any ArrayManifold

  /// The frequencies in hertz up to which all wind is taken out, and none.
  private static let (whole, highest) = (900.0, 1400.0)
  private static let directionCount = 300

  package init(_ manifold: any ArrayManifold, sampleRate: Int) {
    self.manifold = manifold
    grid = AnalysisGrid(sampleRate: sampleRate, highestKnown: manifold.band.upperBound)
    let width = Double(sampleRate) / Double(grid.length)
    bins = 0..<min(Int((Self.highest / width).rounded(.up)), grid.bins.upperBound)
    shares = bins.map {
      Float(max(0, min(1, (Self.highest - Double($0) * width) / (Self.highest - Self.whole))))
    }
    let responses = manifold.responses(
      from: fibonacciSphere(Self.directionCount), frequencies: Self.frequencies(bins, width, manifold.band))
    microphones = responses.channels
    diffuse = bins.flatMap { bin in
      let matrix = HermitianMatrix.diffuse(responses, bin, loading: 0)
      let mean =
        (0..<matrix.order).reduce(0) { $0 + matrix.values[$1 * (matrix.order + 1)].real }
        / Double(matrix.order)
      return matrix.values.flatMap { [Float($0.real / mean), Float($0.imaginary / mean)] }
    }
  }

  /// Of `bins`; of the lowest one, where nothing is known, the next one's.
  private static func frequencies(_ bins: Range<Int>, _ width: Double, _ band: ClosedRange<Double>)
    -> [Double]
  {
    bins.map { max(Double(max(1, $0)) * width, band.lowerBound) }
  }

  /// The responses to sound from a direction: `[bin][microphone]`.
  func responses(from direction: SIMD3<Double>) -> [[Complex]] {
    let width = Double(grid.sampleRate) / Double(grid.length)
    let grid = manifold.responses(
      from: [direction], frequencies: Self.frequencies(bins, width, manifold.band))
    return bins.map { bin in (0..<microphones).map { grid[bin, $0, 0] } }
  }
}

/// What is to stay as loud in a feed when wind is taken out: a pattern's sound from its axis, diffuse sound of stereo, W of
/// B-format.
///
/// Immutable.
package final class WindReference: Sendable {
  let table: WindTable
  /// Covariances of that sound, `[bin][row][column]`, real and imaginary parts in turn.
  package let kept: [Float]
  /// Of how many outputs, the first ones.
  let outputs: Int
  /// Of each bin, the part of the weights' correction that is applied: where ears tell directions by phase, stereo keeps its
  /// image, and the postfilter alone lowers wind.
  let shares: [Float]

  /// The frequencies in hertz up to which stereo changes as a whole, and not at all.
  private static let (whole, highest) = (560.0, 700.0)

  /// - Parameters:
  ///   - axis: of a pattern, as a unit vector of the device frame; nil for diffuse sound.
  ///   - outputs: the number of outputs whose loudness counts.
  package init(_ table: WindTable, axis: SIMD3<Double>?, outputs: Int) {
    (self.table, self.outputs) = (table, outputs)
    let width = Double(table.grid.sampleRate) / Double(table.grid.length)
    shares = table.bins.map {
      outputs == 2
        ? Float(max(0, min(1, (Self.highest - Double($0) * width) / (Self.highest - Self.whole)))) : 1
    }
    kept =
      axis.map { axis in
        table.responses(from: axis).flatMap {
          HermitianMatrix(outer: $0).values.flatMap { [Float($0.real), Float($0.imaginary)] }
        }
      } ?? table.diffuse
  }
}
