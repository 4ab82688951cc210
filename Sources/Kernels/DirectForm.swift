import CRealtime

// Convolution term by term, with no transform: for periods that no partitions were prepared for.
//
//   signal  [frame]  from -(taps - 1) on      four vectors of neighbouring frames per tap
//   sums    [frame]                           two filters share what is loaded of the signal
//
// Thread: JACK's realtime thread (process callback), or the thread that takes its place offline; all functions.

/// Adds one microphone's share of a pair of outputs: sum over k of signal[n - k] · filter[k].
/// - Parameters:
///   - signal: the period's first frame, with `taps` - 1 frames before it. Any alignment.
///   - frames: a multiple of four vectors.
///   - left, right: `[tap]`.
@_noLocks @_noAllocation
func addDirectly(
  _ signal: UnsafePointer<Float>, _ frames: Int, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
  _ taps: Int, _ leftSums: Floats, _ rightSums: Floats
) {
  // Taps summed before they join the total. Short chains accumulate less rounding error.
  let chain = 64
  var first = 0
  while first < taps {
    let end = first &+ chain < taps ? first &+ chain : taps
    var n = 0
    while n < frames {
      addTaps(signal + n, left, right, first, end, leftSums + n, rightSums + n)
      n &+= 4 &* laneCount()
    }
    first = end
  }
}

/// Adds the taps from `first` up to `end`, to four vectors of frames.
@_noLocks @_noAllocation @inline(__always)
private func addTaps(
  _ signal: UnsafePointer<Float>, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ first: Int,
  _ end: Int, _ leftSums: Floats, _ rightSums: Floats
) {
  let count = laneCount()
  var (l0, l1, l2, l3) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
  var (r0, r1, r2, r3) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
  var tap = first
  while tap < end {
    let x = signal - tap
    let (x0, x1) = (load(x), load(x + count))
    let (x2, x3) = (load(x + 2 &* count), load(x + 3 &* count))
    let (l, r) = (Lanes(repeating: left[tap]), Lanes(repeating: right[tap]))
    l0 = multiplyAdd(l0, x0, l)
    l1 = multiplyAdd(l1, x1, l)
    l2 = multiplyAdd(l2, x2, l)
    l3 = multiplyAdd(l3, x3, l)
    r0 = multiplyAdd(r0, x0, r)
    r1 = multiplyAdd(r1, x1, r)
    r2 = multiplyAdd(r2, x2, r)
    r3 = multiplyAdd(r3, x3, r)
    tap &+= 1
  }
  add(l0, l1, l2, l3, to: leftSums)
  add(r0, r1, r2, r3, to: rightSums)
}

@_noLocks @_noAllocation @inline(__always)
private func add(_ a: Lanes, _ b: Lanes, _ c: Lanes, _ d: Lanes, to sums: Floats) {
  let count = laneCount()
  store(load(sums) + a, sums)
  store(load(sums + count) + b, sums + count)
  store(load(sums + 2 &* count) + c, sums + 2 &* count)
  store(load(sums + 3 &* count) + d, sums + 3 &* count)
}
