extension FilterSet {
  /// A set whose outputs are sums of outputs of other sets of the same size.
  ///
  /// Thread: any but the callback's.
  /// - Parameter parts: sets, and of each the gains of its outputs in those of the sum, `[output][output of the set]`.
  public convenience init(mixing parts: [(set: FilterSet, gains: [[Float]])]) {
    let first = parts[0].set
    var sums = [[[Float]]](
      repeating: [[Float]](
        repeating: [Float](repeating: 0, count: first.taps), count: first.microphones),
      count: parts[0].gains.count)
    for part in parts {
      for (output, row) in part.gains.enumerated() {
        for (other, gain) in row.enumerated() where gain != 0 {
          for microphone in 0..<first.microphones {
            let filter = part.set.filter(output: other, microphone: microphone)
            sums[output][microphone].withUnsafeMutableBufferPointer { sum in
              for tap in sum.indices { sum[tap] += gain * filter[tap] }
            }
          }
        }
      }
    }
    self.init(coefficients: sums)
  }

  /// A set with the mean of others, weighted by `gains`, whose sum is 1.
  ///
  /// Thread: any but the callback's.
  public convenience init(blending sets: [(set: FilterSet, gain: Double)]) {
    self.init(
      mixing: sets.map { set, gain in
        (
          set,
          (0..<set.outputs).map { output in (0..<set.outputs).map { $0 == output ? Float(gain) : 0 } }
        )
      })
  }
}
