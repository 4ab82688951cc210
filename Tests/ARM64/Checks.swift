import CGlibc

/// What was checked so far, and how much of it failed. Each failure is printed at once.
struct Checks {
  private(set) var count = 0
  private(set) var failures = 0

  mutating func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) {
    count += 1
    guard !isTrue else { return }
    failures += 1
    print("failed: \(text())")
  }

  /// Expects `output` to equal `expected` to within 1e-6 of the peak (R26), and some of it to be sound.
  /// - Returns: the largest error over the peak.
  @discardableResult
  mutating func expect(_ output: [Float], near expected: [Double], _ text: @autoclosure () -> String)
    -> Double
  {
    let peak = expected.reduce(0) { max($0, $1.magnitude) }
    var error = output.count == expected.count && peak > 0 ? 0 : Double.infinity
    for (sample, value) in zip(output, expected) {
      let difference = (Double(sample) - value).magnitude / peak
      error = max(error, difference.isNaN ? .infinity : difference)
    }
    expect(error <= 1e-6, "\(text()): error \(billionths(error)) of the peak")
    return error
  }
}

/// Standard output, flushed: what was printed before a crash is seen.
func flush() { fflush(nil) }

/// A small number, as embedded Swift can print it.
func billionths(_ value: Double) -> String { value < 1 ? "\(Int(value * 1e9))e-9" : "1 or more" }
