import FilterDesign
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
    let size = outputs * microphones * 2
    var values = [Float](repeating: 0, count: grid.bins.upperBound * size)
    let transform = FourierTransform(size: length)
    let (re, im) = (AlignedMemory(count: length), AlignedMemory(count: length))
    defer {
      transform.free()
      re.free()
      im.free()
    }
    for n in 0..<outputs * microphones {
      let filter = filters.filter(n / microphones, n % microphones)
      re.floats.update(repeating: 0, count: length)
      im.floats.update(repeating: 0, count: length)
      for tap in 0..<filters.taps { re.floats[tap % length] += filter[tap] }
      transform.forward(re.floats, im.floats)
      for bin in 0..<grid.bins.upperBound {
        values[bin * size + 2 * n] = re.floats[bin]
        values[bin * size + 2 * n + 1] = im.floats[bin]
      }
    }
    self.values = values
  }

  /// Calls `body` with `[output][microphone]` of a bin, real and imaginary parts in turn.
  func with<Result>(bin: Int, _ body: (UnsafePointer<Float>) -> Result) -> Result {
    values.withUnsafeBufferPointer { body($0.baseAddress! + bin * outputs * microphones * 2) }
  }
}

/// What the linear filters of a feed pass of sound from every fine direction, where not all microphones are heard.
///
/// Immutable.
package final class PassedSound: Sendable {
  private let bins: Int
  private let outputs: Int
  /// `[fine direction][bin][output]`, real and imaginary parts in turn.
  private let values: [Float]

  init(_ weights: LinearWeights, _ array: ArrayTable) {
    (bins, outputs) = (array.grid.bins.count, weights.outputs)
    var all = Weights(frequencies: bins, outputs: outputs, microphones: weights.microphones)
    for bin in 0..<bins {
      all[bin] = weights.with(bin: array.grid.bins.lowerBound + bin) { w in
        (0..<weights.outputs * weights.microphones).map { Complex(Double(w[2 * $0]), Double(w[2 * $0 + 1])) }
      }
    }
    let (bins, outputs) = (bins, outputs)
    var values = [Float](repeating: 0, count: array.fineDirections.count * bins * outputs * 2)
    array.passed(by: all) { bin, output, direction, value in
      let at = ((direction * bins + bin) * outputs + output) * 2
      (values[at], values[at + 1]) = (Float(value.real), Float(value.imaginary))
    }
    self.values = values
  }

  func value(bin: Int, _ direction: Int, _ output: Int) -> (re: Float, im: Float) {
    let at = ((direction * bins + bin) * outputs + output) * 2
    return (values[at], values[at + 1])
  }
}
