/// The number of samples that differ in any bit, including samples that only one signal has. `#expect(a ==
/// b)` would search for the shortest edit between unequal signals, which takes hours for seconds of audio.
public func differences(_ a: some Collection<Float>, _ b: some Collection<Float>) -> Int {
  zip(a, b).count { $0.bitPattern != $1.bitPattern } + abs(a.count - b.count)
}

/// The same of arrays, from a sample on: fast also for tests that are not optimised.
public func differences(_ a: [Float], _ b: [Float], from first: Int = 0) -> Int {
  zip(a, b).dropFirst(first).count { $0.bitPattern != $1.bitPattern } + abs(a.count - b.count)
}

/// Whether a sample equals `expected`, which is not 0, to within 1e-6: the error that R26 allows a convolution.
public func isNear(_ sample: Float, _ expected: Float) -> Bool {
  abs(sample - expected) <= 1e-6 * abs(expected)
}
