/// How two explanations of the same events compare.
struct Comparison {
  /// Mean gain of the second over the first, relative to the first's mean.
  let gain: Double
  /// The mean gain in its standard errors.
  let certainty: Double

  init(_ first: [Float], _ second: [Float]) {
    let differences = zip(first, second).map { Double($1 - $0) }
    let count = Double(max(1, differences.count))
    let mean = differences.reduce(0, +) / count
    let variance = differences.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    gain = mean / max(1e-9, first.reduce(0.0) { $0 + Double($1) } / count)
    certainty = mean / ((variance / count).squareRoot() + 1e-6)
  }
}

extension [Float] {
  /// 0 if empty.
  var mean: Double { Double(reduce(0, +)) / Double(Swift.max(1, count)) }
}
