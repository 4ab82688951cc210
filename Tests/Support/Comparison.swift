/// How many samples differ in any bit, those that only one of the two has included. `#expect(a == b)` would look for
/// the shortest edit from one to the other where they differ: for seconds of sound that takes hours.
public func differences(_ a: some Collection<Float>, _ b: some Collection<Float>) -> Int {
  zip(a, b).count { $0.bitPattern != $1.bitPattern } + abs(a.count - b.count)
}
