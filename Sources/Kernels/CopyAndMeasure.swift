import CRealtime

// Copies the samples of one channel and measures them on the way.
//
//   from  [frame]  ──►  to  [frame]      contiguous, any alignment
//           └─► energy, peak             two vector accumulators each, then a sum and a maximum over lanes
//
// A block that contains NaN, infinity, or a sample above the limit is processed again one sample at a time.
//
// Thread: JACK's realtime thread (process callback), or the thread that takes its place offline; all functions.

/// Copies `count` samples and adds their measures:
/// - energy and peak, without NaN, infinity and samples above 120 dBFS
/// - the number of invalid samples: NaN, infinity, or above 60 dBFS
/// - the number of samples above full scale
///
/// Another thread may still write `from`. Where samples are copied, the measures are those of the copy.
/// - Parameter to: nil to measure only.
@_noLocks @_noAllocation
func copyAndMeasure(
  _ from: UnsafePointer<Float>, _ to: Floats?, _ count: Int, _ measure: UnsafeMutablePointer<pinna_measure>
) {
  let whole = count / laneCount() &* laneCount()
  // Two accumulators of each kind break the dependency chain between iterations.
  var (energy, peak, energy2, peak2) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
  var n = 0
  while n &+ 2 &* laneCount() <= whole {
    let (v, w) = (load(from + n), load(from + (n &+ laneCount())))
    let (a, b) = (magnitude(v), magnitude(w))
    energy = multiplyAdd(energy, v, v)
    energy2 = multiplyAdd(energy2, w, w)
    peak = peak.replacing(with: a, where: a .> peak)
    peak2 = peak2.replacing(with: b, where: b .> peak2)
    if let to {
      store(v, to + n)
      store(w, to + (n &+ laneCount()))
    }
    n &+= 2 &* laneCount()
  }
  energy += energy2
  peak = peak.replacing(with: peak2, where: peak2 .> peak)
  while n < whole {
    let v = load(from + n)
    let size = magnitude(v)
    energy = multiplyAdd(energy, v, v)
    peak = peak.replacing(with: size, where: size .> peak)
    if let to { store(v, to + n) }
    n &+= laneCount()
  }
  let (sum, top) = (sumOfLanes(energy), maximum(peak))
  // Comparisons drop NaN, so the peak misses it; the sum does not.
  let checked = sum <= Float.greatestFiniteMagnitude && top <= (to == nil ? 1 : 1000) ? whole : 0
  if checked > 0 {
    measure.pointee.energy += sum
    if top > measure.pointee.peak { measure.pointee.peak = top }
  }
  copyAndMeasureSingly(from, to, checked, count, measure)
}

/// Copies and measures the samples from `first` on, one at a time.
@_noLocks @_noAllocation
private func copyAndMeasureSingly(
  _ from: UnsafePointer<Float>, _ to: Floats?, _ first: Int, _ count: Int,
  _ measure: UnsafeMutablePointer<pinna_measure>
) {
  var n = first
  while n < count {
    let sample = from[n]
    let size = sample.magnitude
    if size <= 1e6 {
      measure.pointee.energy += size * size
      if size > measure.pointee.peak { measure.pointee.peak = size }
    }
    if !(size <= 1000) { measure.pointee.rejected &+= 1 }
    if size > 1 { measure.pointee.clipped &+= 1 }
    if let to { to[n] = sample }
    n &+= 1
  }
}

@_noLocks @_noAllocation @inline(__always)
private func magnitude(_ v: Lanes) -> Lanes {
  unsafeBitCast(unsafeBitCast(v, to: Bits.self) & Bits(repeating: 0x7FFF_FFFF), to: Lanes.self)
}

@_noLocks @_noAllocation @inline(__always)
private func maximum(_ v: Lanes) -> Float {
  #if LANES_16
    let eight = elementwiseMaximum(v.lowHalf, v.highHalf)
    let four = elementwiseMaximum(eight.lowHalf, eight.highHalf)
  #elseif LANES_8
    let four = elementwiseMaximum(v.lowHalf, v.highHalf)
  #else
    let four = v
  #endif
  let two = elementwiseMaximum(four, Float4(four.z, four.w, four.x, four.y))
  return two.x > two.y ? two.x : two.y
}

@_noLocks @_noAllocation @inline(__always)
private func elementwiseMaximum(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> {
  a.replacing(with: b, where: b .> a)
}

@_noLocks @_noAllocation @inline(__always)
private func elementwiseMaximum(_ a: Float4, _ b: Float4) -> Float4 { a.replacing(with: b, where: b .> a) }
