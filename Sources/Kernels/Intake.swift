import CRealtime

/// Copies what is sound (finite, at most 60 dB over full scale), zeroes what is not, and measures: energy and peak of
/// all that is finite and below 120 dB, counts of what was not sound and of what was beyond full scale.
@_noLocks @_noAllocation
func take(
  _ from: UnsafePointer<Float>, _ to: Floats?, _ count: Int, _ measure: UnsafeMutablePointer<pinna_measure>
) {
  var energy = Lanes.zero
  var peak = Lanes.zero
  // Counted in floats: exact up to 2^24.
  var rejected = Lanes.zero
  var clipped = Lanes.zero
  let zero = Lanes.zero
  let one = Lanes(repeating: 1)
  let loudest = Lanes(repeating: 1000)
  let measurable = Lanes(repeating: 1e6)
  var n = 0
  while n &+ laneCount() <= count {
    let v = load(from + n)
    let size = magnitude(v)
    let good = size .<= loudest
    let finite = zero.replacing(with: size, where: size .<= measurable)
    energy = plus(energy, finite, finite)
    peak = peak.replacing(with: finite, where: finite .> peak)
    rejected += one.replacing(with: zero, where: good)
    clipped += zero.replacing(with: one, where: size .> one)
    if let to { store(zero.replacing(with: v, where: good), to + n) }
    n &+= laneCount()
  }
  var (sum, top) = (total(energy), highest(peak))
  var (bad, over) = (total(rejected), total(clipped))
  while n < count {
    let size = from[n].magnitude
    let good = size <= 1000
    if size <= 1e6 {
      sum += size * size
      if size > top { top = size }
    }
    if !good { bad += 1 }
    if size > 1 { over += 1 }
    if let to { to[n] = good ? from[n] : 0 }
    n &+= 1
  }
  measure.pointee.energy += sum
  if top > measure.pointee.peak { measure.pointee.peak = top }
  measure.pointee.rejected &+= Int(bad)
  measure.pointee.clipped &+= Int(over)
}

@_noLocks @_noAllocation @inline(__always)
private func magnitude(_ v: Lanes) -> Lanes {
  unsafeBitCast(unsafeBitCast(v, to: Bits.self) & Bits(repeating: 0x7FFF_FFFF), to: Lanes.self)
}

@_noLocks @_noAllocation @inline(__always)
private func highest(_ v: Lanes) -> Float {
  var v = v
  var n = laneCount()
  while n > 1 {
    let (a, b) = zip(v, v)
    v = a.replacing(with: b, where: b .> a)
    n /= 2
  }
  return first(v)
}
