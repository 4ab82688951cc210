import CRealtime

/// Copies, and measures what it copied: energy and peak of all that is finite and below 120 dB, counts of what is no
/// sound (finite, at most 60 dB over full scale) and of what is beyond full scale. Who writes `from` may still do so: where
/// the samples are copied, the copy is what was measured.
@_noLocks @_noAllocation
func take(
  _ from: UnsafePointer<Float>, _ to: Floats?, _ count: Int, _ measure: UnsafeMutablePointer<pinna_measure>
) {
  let whole = count / laneCount() &* laneCount()
  // Two of each, so that one need not wait for the other.
  var (energy, peak, energy2, peak2) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
  var n = 0
  while n &+ 2 &* laneCount() <= whole {
    let (v, w) = (load(from + n), load(from + (n &+ laneCount())))
    let (a, b) = (magnitude(v), magnitude(w))
    energy = plus(energy, v, v)
    energy2 = plus(energy2, w, w)
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
    energy = plus(energy, v, v)
    peak = peak.replacing(with: size, where: size .> peak)
    if let to { store(v, to + n) }
    n &+= laneCount()
  }
  let (sum, top) = (total(energy), highest(peak))
  // What is not a number shows in the sum alone.
  let checked = sum <= Float.greatestFiniteMagnitude && top <= (to == nil ? 1 : 1000) ? whole : 0
  if checked > 0 {
    measure.pointee.energy += sum
    if top > measure.pointee.peak { measure.pointee.peak = top }
  }
  takeOneByOne(from, to, checked, count, measure)
}

/// The same for the frames from `first` on, one at a time.
@_noLocks @_noAllocation
private func takeOneByOne(
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
private func highest(_ v: Lanes) -> Float {
  #if LANES_16
    let eight = higher(v.lowHalf, v.highHalf)
    let four = higher(eight.lowHalf, eight.highHalf)
  #elseif LANES_8
    let four = higher(v.lowHalf, v.highHalf)
  #else
    let four = v
  #endif
  let two = higher(four, Four(four.z, four.w, four.x, four.y))
  return two.x > two.y ? two.x : two.y
}

@_noLocks @_noAllocation @inline(__always)
private func higher(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> {
  a.replacing(with: b, where: b .> a)
}

@_noLocks @_noAllocation @inline(__always)
private func higher(_ a: Four, _ b: Four) -> Four { a.replacing(with: b, where: b .> a) }
