import Numerics
import Realtime

/// The linear filters of a feed, in the bins of the analysis.
///
/// Immutable.
package final class LinearWeights: Sendable {
  let outputs: Int
  let microphones: Int
  /// `[bin from 0][output][microphone]`, real and imaginary parts in turn.
  private let values: [Float]

  package init(_ filters: FilterSet, _ grid: AnalysisGrid) {
    (outputs, microphones) = (filters.outputs, filters.microphones)
    let length = grid.length
    let turns = (0..<length).map { Complex(phase: -2 * .pi * Double($0) / Double(length)) }
    let size = outputs * microphones * 2
    var values = [Float](repeating: 0, count: grid.bins.upperBound * size)
    for n in 0..<outputs * microphones {
      let filter = filters.filter(n / microphones, n % microphones)
      for bin in 0..<grid.bins.upperBound {
        var sum = Complex.zero
        for tap in 0..<filters.taps { sum += Double(filter[tap]) * turns[bin * tap % length] }
        values[bin * size + 2 * n] = Float(sum.real)
        values[bin * size + 2 * n + 1] = Float(sum.imaginary)
      }
    }
    self.values = values
  }

  /// Calls `body` with `[output][microphone]` of a bin, real and imaginary parts in turn.
  func with<Result>(bin: Int, _ body: (UnsafePointer<Float>) -> Result) -> Result {
    values.withUnsafeBufferPointer { body($0.baseAddress! + bin * outputs * microphones * 2) }
  }
}
