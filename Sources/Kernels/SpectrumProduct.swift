import CRealtime

// Sums over partitions and microphones of input spectrum × filter spectrum (uniformly partitioned overlap-save).
//
//   x  input spectra    [unit][slot][group][re, im][lane]                slots: a ring, `newest` is the latest period
//   h  filter spectra   [output][unit][partition, last first][group][re, im][lane]
//
//   slot       … newest−2   newest−1   newest        one run of x, in ascending slots until the ring wraps around,
//   partition  …    2          1          0          meets one run of h: both pointers only ascend
//
// Terms are always added in the same order: oldest partition first, in chunks that join a total. Direct and paired
// sums therefore give the same bits, whatever period a unit is computed in.
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// Four complex accumulators, one vector each. The functions below say which sums they hold.
struct Accumulators {
  var r0 = Lanes.zero
  var i0 = Lanes.zero
  var r1 = Lanes.zero
  var i1 = Lanes.zero
  var r2 = Lanes.zero
  var i2 = Lanes.zero
  var r3 = Lanes.zero
  var i3 = Lanes.zero

  @_noLocks @_noAllocation @inline(__always)
  init() {}

  @_noLocks @_noAllocation @inline(__always)
  mutating func add(_ s: Accumulators) {
    r0 += s.r0
    i0 += s.i0
    r1 += s.r1
    i1 += s.i1
    r2 += s.r2
    i2 += s.i2
    r3 += s.r3
    i3 += s.i3
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func multiplyAdd0(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r0 = multiplySubtract(multiplyAdd(r0, xr, hr), xi, hi)
    i0 = multiplyAdd(multiplyAdd(i0, xr, hi), xi, hr)
  }
  @_noLocks @_noAllocation @inline(__always)
  mutating func multiplyAdd1(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r1 = multiplySubtract(multiplyAdd(r1, xr, hr), xi, hi)
    i1 = multiplyAdd(multiplyAdd(i1, xr, hi), xi, hr)
  }
  @_noLocks @_noAllocation @inline(__always)
  mutating func multiplyAdd2(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r2 = multiplySubtract(multiplyAdd(r2, xr, hr), xi, hi)
    i2 = multiplyAdd(multiplyAdd(i2, xr, hi), xi, hr)
  }
  @_noLocks @_noAllocation @inline(__always)
  mutating func multiplyAdd3(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r3 = multiplySubtract(multiplyAdd(r3, xr, hr), xi, hi)
    i3 = multiplyAdd(multiplyAdd(i3, xr, hi), xi, hr)
  }
}

extension Accumulators {
  /// Adds `count` vectors of spectrum × filter for two neighbouring units and both outputs.
  /// Order: unit 0 left, unit 0 right, unit 1 left, unit 1 right.
  @_noLocks @_noAllocation @inline(__always)
  mutating func accumulatePair(
    _ ring: PartitionRing, _ x: UnsafePointer<Lanes>, _ h: UnsafePointer<Lanes>, _ count: Int
  ) {
    let right = h + ring.filterOutputStride
    let (y, next, nextRight) = (x + ring.unitStride, h + ring.filterUnitStride, right + ring.filterUnitStride)
    var n = 0
    while n < count {
      multiplyAdd0(x[n], x[n &+ 1], h[n], h[n &+ 1])
      multiplyAdd1(x[n], x[n &+ 1], right[n], right[n &+ 1])
      multiplyAdd2(y[n], y[n &+ 1], next[n], next[n &+ 1])
      multiplyAdd3(y[n], y[n &+ 1], nextRight[n], nextRight[n &+ 1])
      n &+= 2
    }
  }
}

/// The ring of input spectra, and the strides to walk through it and through the filters.
struct PartitionRing {
  let partitions: Int
  let slots: Int
  let groups: Int
  let newest: Int
  let chunk: Int
  // Strides in vectors.
  let slotStride: Int
  let unitStride: Int
  let filterUnitStride: Int
  let filterOutputStride: Int

  @_noLocks @_noAllocation @inline(__always)
  init(_ c: UnsafeMutablePointer<pinna_convolver>) {
    partitions = c.pointee.headPartitions
    slots = c.pointee.slots
    groups = c.pointee.groups
    newest = c.pointee.newestSlot
    chunk = c.pointee.chunk
    slotStride = 2 &* groups
    unitStride = c.pointee.unitStride / laneCount()
    filterUnitStride = partitions &* slotStride
    filterOutputStride = c.pointee.units &* filterUnitStride
  }

  /// The slot of the spectrum (or block of the tail) that arrived `age` periods (or blocks) ago.
  @_noLocks @_noAllocation @inline(__always)
  func slot(age: Int) -> Int {
    let s = newest &- age
    return s < 0 ? s &+ slots : s
  }

  /// The size of the next chunk. The oldest chunk takes the remainder, so that the others are full.
  @_noLocks @_noAllocation @inline(__always)
  func nextChunk(of remaining: Int) -> Int { remaining > chunk ? (remaining &- 1) % chunk &+ 1 : remaining }
}

/// The sums over all partitions, for two neighbouring units and both outputs.
/// Order: unit 0 left, unit 0 right, unit 1 left, unit 1 right.
@_noLocks @_noAllocation @inline(__always)
func directSums(_ ring: PartitionRing, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>)
  -> Accumulators
{
  var sums = Accumulators()
  var total = Accumulators()
  var remaining = ring.partitions
  var h = filters
  while true {
    let size = ring.nextChunk(of: remaining)
    var age = remaining &- 1
    remaining &-= size
    while age >= remaining {
      let at = ring.slot(age: age)
      let run = min(age &- remaining &+ 1, ring.slots &- at)
      sums.accumulatePair(ring, spectra + at &* ring.slotStride, h, run &* ring.slotStride)
      h += run &* ring.slotStride
      age &-= run
    }
    if remaining == 0 { return sums }
    total.add(sums)
    sums = remaining == ring.chunk ? total : Accumulators()
  }
}

/// This period's sums for one unit, and the next period's without its newest partition, in one pass over the filters.
/// Order: left now, left next, right now, right next.
@_noLocks @_noAllocation @inline(__always)
func pairedSums(_ ring: PartitionRing, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>)
  -> Accumulators
{
  var sums = Accumulators()
  var total = Accumulators()
  var remaining = ring.partitions
  var h = filters
  while true {
    let size = ring.nextChunk(of: remaining)
    var age = remaining &- 1
    remaining &-= size
    let last = max(remaining, 1)
    while age >= last {
      // The next period pairs each partition with the spectrum one slot later. After the last slot that is slot 0.
      let at = ring.slot(age: age)
      let isLast = at &+ 1 == ring.slots
      let run = isLast ? 1 : min(age &- last &+ 1, ring.slots &- 1 &- at)
      var x = spectra + at &* ring.slotStride
      var y = isLast ? spectra : x + ring.slotStride
      let end = h + run &* ring.slotStride
      while h < end {
        let (lr, li, rr, ri) = (h[0], h[1], h[ring.filterOutputStride], h[ring.filterOutputStride &+ 1])
        sums.multiplyAdd0(x[0], x[1], lr, li)
        sums.multiplyAdd2(x[0], x[1], rr, ri)
        sums.multiplyAdd1(y[0], y[1], lr, li)
        sums.multiplyAdd3(y[0], y[1], rr, ri)
        x += 2
        y += 2
        h += 2
      }
      age &-= run
    }
    if remaining == 0 { break }
    total.add(sums)
    sums = remaining == ring.chunk ? total : Accumulators()
  }
  var x = spectra + ring.newest &* ring.slotStride
  let end = h + ring.slotStride
  while h < end {
    sums.multiplyAdd0(x[0], x[1], h[0], h[1])
    sums.multiplyAdd2(x[0], x[1], h[ring.filterOutputStride], h[ring.filterOutputStride &+ 1])
    x += 2
    h += 2
  }
  return sums
}
