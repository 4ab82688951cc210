import CRealtime

// Sums over partitions and microphones of input spectrum × filter spectrum (uniformly partitioned overlap-save).
//
//   x  input spectra    [unit][slot][group][re, im][lane]                slots: a ring, `newest` is the latest period
//   h  filter spectra   [output][unit][partition, last first][group][re, im][lane]
//
//   slot       … newest−2   newest−1   newest        one run of x, in ascending slots until the ring wraps around,
//   partition  …    2          1          0          meets one run of h: both pointers only ascend
//
// Terms are always added in the same order: the oldest partition first, in chunks. Full chunks are added to a total; the last
// one starts from it. The head's newest partition is in no chunk: it is added last, in paired sums by the second period
// of the pair. Direct and paired sums therefore give the same bits, whatever period a unit is computed in.
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// The ring of input spectra, and the strides to walk through it and through the filters.
struct PartitionRing {
  let partitions: Int
  let slots: Int
  let groups: Int
  let newest: Int
  let chunkSize: Int
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
    chunkSize = c.pointee.chunk
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
  func nextChunk(of remaining: Int) -> Int {
    remaining > chunkSize ? (remaining &- 1) % chunkSize &+ 1 : remaining
  }
}

/// Adds `count` vectors of spectrum × filter for two neighbouring units and both outputs.
/// Order: unit 0 left, unit 0 right, unit 1 left, unit 1 right.
@_noLocks @_noAllocation @inline(__always)
func addPair(
  _ sums: inout FourAccumulators, _ ring: PartitionRing, _ x: UnsafePointer<Lanes>, _ h: UnsafePointer<Lanes>,
  _ count: Int
) {
  let right = h + ring.filterOutputStride
  let (y, next, nextRight) = (x + ring.unitStride, h + ring.filterUnitStride, right + ring.filterUnitStride)
  var n = 0
  while n < count {
    let (first, second) = (Complex(x + n), Complex(y + n))
    sums.s0.add(first, Complex(h + n))
    sums.s1.add(first, Complex(right + n))
    sums.s2.add(second, Complex(next + n))
    sums.s3.add(second, Complex(nextRight + n))
    n &+= 2
  }
}

/// The sums over partitions, the oldest first, for two neighbouring units and both outputs.
/// Order: unit 0 left, unit 0 right, unit 1 left, unit 1 right.
/// - Parameter firstPartition: the newest partition to include: 0, or 1 without that which `completeSums` adds.
@_noLocks @_noAllocation @inline(__always)
func directSums(
  _ ring: PartitionRing, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>,
  from firstPartition: Int
) -> FourSums {
  var chunk = FourAccumulators()
  var total = FourSums()
  var remaining = ring.partitions
  var h = filters
  while true {
    var age = remaining &- 1
    remaining &-= ring.nextChunk(of: remaining &- firstPartition)
    while age >= remaining {
      let at = ring.slot(age: age)
      let run = min(age &- remaining &+ 1, ring.slots &- at)
      addPair(&chunk, ring, spectra + at &* ring.slotStride, h, run &* ring.slotStride)
      h += run &* ring.slotStride
      age &-= run
    }
    if remaining == firstPartition { return chunk.sums }
    total.add(chunk.sums)
    chunk = remaining &- firstPartition == ring.chunkSize ? FourAccumulators(total) : FourAccumulators()
  }
}

/// For one unit, this period's sums and the next period's without its newest partition, in one pass over the filters.
/// Order: left now, left next, right now, right next.
@_noLocks @_noAllocation @inline(__always)
func pairedSums(_ ring: PartitionRing, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>)
  -> FourSums
{
  var chunk = FourAccumulators()
  var total = FourSums()
  var remaining = ring.partitions
  var h = filters
  while true {
    var age = remaining &- 1
    remaining &-= ring.nextChunk(of: remaining &- 1)
    while age >= remaining {
      // The next period pairs each partition with the spectrum one slot later. After the last slot that is slot 0.
      let at = ring.slot(age: age)
      let isLast = at &+ 1 == ring.slots
      let run = isLast ? 1 : min(age &- remaining &+ 1, ring.slots &- 1 &- at)
      var x = spectra + at &* ring.slotStride
      var y = isLast ? spectra : x + ring.slotStride
      let end = h + run &* ring.slotStride
      while h < end {
        let (left, right) = (Complex(h), Complex(h + ring.filterOutputStride))
        // First, because otherwise the build with four lanes keeps one sum in memory, and takes 13 % longer.
        let next = Complex(y)
        chunk.s1.add(next, left)
        chunk.s3.add(next, right)
        let now = Complex(x)
        chunk.s0.add(now, left)
        chunk.s2.add(now, right)
        x += 2
        y += 2
        h += 2
      }
      age &-= run
    }
    if remaining == 1 { break }
    total.add(chunk.sums)
    chunk = remaining &- 1 == ring.chunkSize ? FourAccumulators(total) : FourAccumulators()
  }
  var withNewest = FourAccumulators(chunk.sums)
  var x = spectra + ring.newest &* ring.slotStride
  let end = h + ring.slotStride
  while h < end {
    let now = Complex(x)
    withNewest.s0.add(now, Complex(h))
    withNewest.s2.add(now, Complex(h + ring.filterOutputStride))
    x += 2
    h += 2
  }
  return FourSums(withNewest.s0.sum, chunk.s1.sum, withNewest.s2.sum, chunk.s3.sum)
}
