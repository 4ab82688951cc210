import CRealtime

// The tail of long filters: all partitions after the head, in blocks of B = 8 or 16 partitions (`tail.phases`).
//
// For one bin, the spectra of successive periods are a signal, and the partitions are a filter over it. The tail
// convolves that signal by overlap-save, B periods at a time, with FFTs over 2B periods.
//
//   partitions   | head: 0 … B−1 | block 0: B … 2B−1 | block 1: 2B … 3B−1 | …
//   input        last 2B periods of a bin ──FFT over periods──► tail.spectra
//                                                [unit][frequency 0 … 2B−1][block modulo blocks][group][re, im][lane]
//   filters      tailSpectra            [output][unit][frequency 0 … 2B−1][block, last first][group][re, im][lane]
//   result       tailSums               [unit][period since the unit's phase, 0 … B−1][output][re, im][lane]
//
// Frequencies are stored in the order of the FFT (`TransformTables.digitReversed`).
//
// In each period one in B of the units (a phase) is computed, so that every period costs the same. The phase follows
// the stream's clock, so the output does not depend on when the engine joined the stream.
// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995). Here FFTs over partitions
//   replace its longer FFTs over time.
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// The first unit of the newest period's phase.
@_noLocks @_noAllocation @inline(__always)
private func firstUnitOfPhase(_ c: UnsafeMutablePointer<pinna_convolver>) -> Int {
  (c.pointee.periodIndex & (c.pointee.tail.phases &- 1)) &<< c.pointee.tail.phaseShift
}

extension PartitionRing {
  /// The ring of the tail blocks of this phase's units. In this ring, each "unit" is one frequency.
  @_noLocks @_noAllocation @inline(__always)
  init(tail c: UnsafeMutablePointer<pinna_convolver>) {
    let block = c.pointee.periodIndex / c.pointee.tail.phases
    partitions = c.pointee.tail.blocks
    slots = partitions
    groups = c.pointee.groups
    newest = block % partitions
    chunkSize = c.pointee.chunk
    slotStride = 2 &* groups
    unitStride = c.pointee.tail.frequencyStride / laneCount()
    filterUnitStride = partitions &* slotStride
    filterOutputStride = c.pointee.units &* 2 &* c.pointee.tail.phases &* filterUnitStride
  }
}

/// Transforms the last 2B periods of this phase's units.
@_noLocks @_noAllocation
func analyseTail(_ c: UnsafeMutablePointer<pinna_convolver>) {
  let ring = PartitionRing(c)
  let work = vectors(c.pointee.tail.work)
  let size = 2 &* c.pointee.tail.phases
  var u = firstUnitOfPhase(c)
  let end = u &+ 1 &<< c.pointee.tail.phaseShift
  let tailRing = PartitionRing(tail: c)
  while u < end {
    let spectra = vectors(c.pointee.spectra) + u &* ring.unitStride
    let target =
      vectors(c.pointee.tail.spectra)
      + (u &* size &* tailRing.unitStride &+ tailRing.newest &* tailRing.slotStride)
    var group = 0
    while group < ring.groups {
      // The oldest period would only affect the half of the output that overlap-save discards.
      work[0] = Lanes.zero
      work[1] = Lanes.zero
      var n = 1
      while n < size {
        let x = spectra + (ring.slot(age: size &- n) &* ring.slotStride &+ 2 &* group)
        work[2 &* n] = x[0]
        work[2 &* n &+ 1] = x[1]
        n &+= 1
      }
      let (twiddles, to) = (c.pointee.tail.twiddles!, target + 2 &* group)
      if size == 16 {
        tailFFT(4, work, twiddles, to, tailRing.unitStride)
      } else {
        tailFFT(8, work, twiddles, to, tailRing.unitStride)
      }
      group &+= 1
    }
    u &+= 1
  }
}

/// Computes the tail's share of this period and of the others until the same phase, for this phase's units and each of
/// `count` voices.
@_noLocks @_noAllocation
func sumTails(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>, _ count: Int
) {
  var u = firstUnitOfPhase(c)
  let end = u &+ 1 &<< c.pointee.tail.phaseShift
  let ring = PartitionRing(tail: c)
  var voice = 0
  while u < end {
    // One unit at a time, so that the second voice finds its input spectra in the cache.
    voice = 0
    while voice < count {
      sumTail(c, ring, voices + voice, u)
      voice &+= 1
    }
    u &+= 1
  }
  voice = 0
  while voice < count {
    voices[voice].tailPhases = min(c.pointee.tail.phases, voices[voice].tailPhases &+ 1)
    voice &+= 1
  }
}

/// Computes the tail's share of unit `u`.
@_noLocks @_noAllocation @inline(__always)
private func sumTail(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let work = vectors(c.pointee.tail.work)
  let size = 2 &* c.pointee.tail.phases
  let x = UnsafePointer(vectors(c.pointee.tail.spectra) + u &* size &* ring.unitStride)
  let h = vectors(voice.pointee.tailSpectra) + u &* size &* ring.filterUnitStride
  var f = 0
  while f < size {
    let s = directSums(ring, x + f &* ring.unitStride, h + f &* ring.filterUnitStride, from: 0)
    let left = work + 2 &* f
    let right = left + 2 &* size
    s.s0.write(left)
    s.s1.write(right)
    s.s2.write(left + 2)
    s.s3.write(right + 2)
    f &+= 2
  }
  let tailSums = vectors(voice.pointee.tailSums) + 2 &* u &* size
  let twiddles = c.pointee.tail.twiddles!
  if size == 16 {
    inverseTailFFT(4, work, twiddles, tailSums)
    inverseTailFFT(4, work + 32, twiddles, tailSums + 2)
  } else {
    inverseTailFFT(8, work, twiddles, tailSums)
    inverseTailFFT(8, work + 64, twiddles, tailSums + 2)
  }
}

/// Adds the tail's share of this period to the sums of units `u` and `u + 1`.
@_noLocks @_noAllocation @inline(__always)
func addTail(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ sums: inout FourSums
) {
  let (clock, shift, phases) = (c.pointee.periodIndex, c.pointee.tail.phaseShift, c.pointee.tail.phases)
  let sinceFirst = (clock &- u &>> shift) & (phases &- 1)
  let sinceSecond = (clock &- (u &+ 1) &>> shift) & (phases &- 1)
  let a = vectors(voice.pointee.tailSums) + (u &* phases &+ sinceFirst) &* 4
  let b = vectors(voice.pointee.tailSums) + ((u &+ 1) &* phases &+ sinceSecond) &* 4
  sums.s0.add(ComplexSum(a))
  sums.s1.add(ComplexSum(a + 2))
  sums.s2.add(ComplexSum(b))
  sums.s3.add(ComplexSum(b + 2))
}

/// FFT of four times `quarter` points, which is 4 or 8: radix 4, then FFTs of `quarter` points.
/// - Parameters:
///   - z: shape `[point][re, im]`; overwritten.
///   - step: vectors from one index of `to` to the next.
@_noLocks @_noAllocation @inline(__always)
private func tailFFT(
  _ quarter: Int, _ z: Vectors, _ twiddles: UnsafePointer<Float>, _ to: Vectors, _ step: Int
) {
  let next = 2 &* quarter
  var n = 0
  while n < quarter {
    let x = z + 2 &* n
    var butterfly = Radix4(
      x[0], x[1], x[next], x[next &+ 1], x[2 &* next], x[2 &* next &+ 1], x[3 &* next], x[3 &* next &+ 1])
    if n > 0 { butterfly.apply(Twiddles(twiddles + 6 &* n)) }
    butterfly.write(x, next)
    n &+= 1
  }
  var k = 0
  while k < 4 {
    let (x, y) = (z + k &* next, to + k &* quarter &* step)
    if quarter == 4 {
      Radix4(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]).write(y, step)
    } else {
      radix8(x, even: y, odd: y + 4 &* step, step)
    }
    k &+= 1
  }
}

/// Inverse of `tailFFT`, unscaled, from its order of frequencies. Writes the second half of the points to `to`, four
/// vectors apart; overlap-save discards the others.
@_noLocks @_noAllocation @inline(__always)
private func inverseTailFFT(
  _ quarter: Int, _ z: Vectors, _ twiddles: UnsafePointer<Float>, _ to: Vectors
) {
  // Inverse FFT: the forward FFT with real and imaginary parts swapped on input and output.
  let next = 2 &* quarter
  var k = 0
  while k < 4 {
    let x = z + k &* next
    if quarter == 4 {
      Radix4(x[1], x[0], x[3], x[2], x[5], x[4], x[7], x[6]).write(x, 2)
    } else {
      swappedRadix8(x)
    }
    k &+= 1
  }
  var n = 0
  while n < quarter {
    let x = z + 2 &* n
    var (br, bi, cr, ci) = (x[next], x[next &+ 1], x[2 &* next], x[2 &* next &+ 1])
    var (dr, di) = (x[3 &* next], x[3 &* next &+ 1])
    if n > 0 {
      let t = Twiddles(twiddles + 6 &* n)
      (br, bi) = (multiplySubtract(br * t.r1, bi, t.i1), multiplyAdd(br * t.i1, bi, t.r1))
      (cr, ci) = (multiplySubtract(cr * t.r2, ci, t.i2), multiplyAdd(cr * t.i2, ci, t.r2))
      (dr, di) = (multiplySubtract(dr * t.r3, di, t.i3), multiplyAdd(dr * t.i3, di, t.r3))
    }
    let butterfly = Radix4(x[0], x[1], br, bi, cr, ci, dr, di)
    let y = to + 4 &* n
    y[0] = butterfly.i2
    y[1] = butterfly.r2
    y[4 &* quarter] = butterfly.i3
    y[4 &* quarter &+ 1] = butterfly.r3
    n &+= 1
  }
}

/// FFT of eight points, stored as even frequencies and then odd ones, with real and imaginary parts swapped on input; in
/// place, into natural order.
@_noLocks @_noAllocation @inline(__always)
private func swappedRadix8(_ z: Vectors) {
  let half = Lanes(repeating: 0.707_106_77)
  let even = Radix4(z[1], z[0], z[3], z[2], z[5], z[4], z[7], z[6])
  let odd = Radix4(z[9], z[8], z[11], z[10], z[13], z[12], z[15], z[14])
  // Twiddles e^(−jπ/4), −j, e^(−j3π/4).
  let (br, bi) = ((odd.r1 + odd.i1) * half, (odd.i1 - odd.r1) * half)
  let (dr, di) = ((odd.i3 - odd.r3) * half, -(odd.r3 + odd.i3) * half)
  (z[0], z[1], z[8], z[9]) = (even.r0 + odd.r0, even.i0 + odd.i0, even.r0 - odd.r0, even.i0 - odd.i0)
  (z[2], z[3], z[10], z[11]) = (even.r1 + br, even.i1 + bi, even.r1 - br, even.i1 - bi)
  (z[4], z[5], z[12], z[13]) = (even.r2 + odd.i2, even.i2 - odd.r2, even.r2 - odd.i2, even.i2 + odd.r2)
  (z[6], z[7], z[14], z[15]) = (even.r3 + dr, even.i3 + di, even.r3 - dr, even.i3 - di)
}
