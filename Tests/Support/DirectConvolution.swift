/// Sums the convolutions of all microphones with their filters, in double precision, term by term: the
/// engine's oracle.
/// - Shapes: microphones `[microphone][frame]`, filters `[microphone][tap]`.
public func directConvolution(_ microphones: [[Float]], _ filters: [[Float]]) -> [Double] {
  var output = [Double](repeating: 0, count: microphones[0].count)
  for (signal, filter) in zip(microphones, filters) {
    for n in output.indices {
      var sum = 0.0
      for k in 0...min(n, filter.count - 1) { sum += Double(signal[n - k]) * Double(filter[k]) }
      output[n] += sum
    }
  }
  return output
}
