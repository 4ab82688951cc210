import CRealtime

// The tail of long filters: all partitions after the first eight (the head), in blocks of eight.
//
// For one bin, the spectra of successive periods are a signal, and the partitions are a filter over it. The tail
// convolves that signal by overlap-save, eight periods at a time, with FFTs over 16 periods.
//
//   partitions   | head: 0 … 7 | block 0: 8 … 15 | block 1: 16 … 23 | …
//   input        last 16 periods of a bin ──FFT over periods──► tail.spectra
//                                                  [unit][frequency 0 … 15][block modulo blocks][group][re, im][lane]
//   filters      tailSpectra              [output][unit][frequency 0 … 15][block, last first][group][re, im][lane]
//   result       tailSums                 [unit][period since the unit's phase, 0 … 7][output][re, im][lane]
//
// Frequencies are stored in the order of the radix-4 FFT: frequency k1 + 4·k2 at 4·k1 + k2.
//
// In each period one eighth of the units (a phase) is computed, so that every period costs the same. The phase follows
// the stream's clock, so the output does not depend on when the engine joined the stream.
// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995). Here FFTs over partitions
//   replace its longer FFTs over time.
//
// Thread: JACK's realtime thread (process callback), or the thread that takes its place offline; all functions.

/// The first unit of the newest period's phase.
@_noLocks @_noAllocation @inline(__always)
private func firstUnitOfPhase(_ c: UnsafeMutablePointer<pinna_convolver>) -> Int {
  (c.pointee.periodIndex & 7) &<< c.pointee.tail.phaseShift
}

extension PartitionRing {
  /// The ring of a unit's tail blocks, as of the unit's last phase. In this ring, each "unit" is one frequency.
  @_noLocks @_noAllocation @inline(__always)
  init(tail c: UnsafeMutablePointer<pinna_convolver>, of unit: Int) {
    let block =
      c.pointee.periodIndex &>> 3 &- (unit &>> c.pointee.tail.phaseShift <= c.pointee.periodIndex & 7 ? 0 : 1)
    partitions = c.pointee.tail.blocks
    slots = partitions
    groups = c.pointee.groups
    newest = block % partitions
    chunk = c.pointee.chunk
    slotStride = 2 &* groups
    unitStride = c.pointee.tail.frequencyStride / laneCount()
    filterUnitStride = partitions &* slotStride
    filterOutputStride = c.pointee.units &* 16 &* filterUnitStride
  }
}

/// Transforms the last 16 periods of this phase's units.
@_noLocks @_noAllocation
func analyseTail(_ c: UnsafeMutablePointer<pinna_convolver>) {
  let ring = PartitionRing(c)
  let work = vectors(c.pointee.tail.work)
  var u = firstUnitOfPhase(c)
  let end = u &+ 1 &<< c.pointee.tail.phaseShift
  while u < end {
    let tailRing = PartitionRing(tail: c, of: u)
    let spectra = vectors(c.pointee.spectra) + u &* ring.unitStride
    let target =
      vectors(c.pointee.tail.spectra)
      + (u &* 16 &* tailRing.unitStride &+ tailRing.newest &* tailRing.slotStride)
    var group = 0
    while group < ring.groups {
      // The oldest period would only affect the half of the output that overlap-save discards.
      work[0] = Lanes.zero
      work[1] = Lanes.zero
      var n = 1
      while n < 16 {
        let x = spectra + (ring.slot(age: 16 &- n) &* ring.slotStride &+ 2 &* group)
        work[2 &* n] = x[0]
        work[2 &* n &+ 1] = x[1]
        n &+= 1
      }
      fft16(work, c.pointee.tail.twiddles, target + 2 &* group, tailRing.unitStride)
      group &+= 1
    }
    u &+= 1
  }
}

/// Computes the tail's share of this period and the next seven, for this phase's units.
@_noLocks @_noAllocation
func sumTail(_ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>) {
  var u = firstUnitOfPhase(c)
  let end = u &+ 1 &<< c.pointee.tail.phaseShift
  let work = vectors(c.pointee.tail.work)
  while u < end {
    let ring = PartitionRing(tail: c, of: u)
    let x = UnsafePointer(vectors(c.pointee.tail.spectra) + u &* 16 &* ring.unitStride)
    let h = vectors(voice.pointee.tailSpectra) + u &* 16 &* ring.filterUnitStride
    var f = 0
    while f < 16 {
      let s = directSums(ring, x + f &* ring.unitStride, h + f &* ring.filterUnitStride)
      let left = work + 2 &* f
      let right = left + 32
      (left[0], left[1], right[0], right[1]) = (s.r0, s.i0, s.r1, s.i1)
      (left[2], left[3], right[2], right[3]) = (s.r2, s.i2, s.r3, s.i3)
      f &+= 2
    }
    let tailSums = vectors(voice.pointee.tailSums) + u &* 32
    inverseFFT16(work, c.pointee.tail.twiddles, tailSums)
    inverseFFT16(work + 32, c.pointee.tail.twiddles, tailSums + 2)
    u &+= 1
  }
  voice.pointee.tailPhases = min(PINNA_TAIL_PHASES, voice.pointee.tailPhases &+ 1)
}

/// Adds the tail's share of this period to the sums of units `u` and `u + 1`.
@_noLocks @_noAllocation @inline(__always)
func addTail(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ sums: inout Accumulators
) {
  let (clock, shift) = (c.pointee.periodIndex, c.pointee.tail.phaseShift)
  let a = vectors(voice.pointee.tailSums) + (u &* 8 &+ (clock &- u &>> shift) & 7) &* 4
  let b = vectors(voice.pointee.tailSums) + ((u &+ 1) &* 8 &+ (clock &- (u &+ 1) &>> shift) & 7) &* 4
  sums.r0 += a[0]
  sums.i0 += a[1]
  sums.r1 += a[2]
  sums.i1 += a[3]
  sums.r2 += b[0]
  sums.i2 += b[1]
  sums.r3 += b[2]
  sums.i3 += b[3]
}

/// 16-point FFT, radix 4. Frequency k1 + 4·k2 goes to index 4·k1 + k2 of `to`.
/// - Parameters:
///   - z: shape `[16][re, im]`; overwritten.
///   - step: vectors from one index of `to` to the next.
@_noLocks @_noAllocation @inline(__always)
private func fft16(
  _ z: Vectors, _ twiddles: UnsafePointer<Float>, _ to: Vectors, _ step: Int
) {
  var n = 0
  while n < 4 {
    var butterfly = Radix4(
      z[2 &* n], z[2 &* n &+ 1], z[2 &* n &+ 8], z[2 &* n &+ 9], z[2 &* n &+ 16], z[2 &* n &+ 17],
      z[2 &* n &+ 24], z[2 &* n &+ 25])
    if n > 0 { butterfly.apply(Twiddles(twiddles + 6 &* n)) }
    butterfly.write(z + 2 &* n, 8)
    n &+= 1
  }
  var k = 0
  while k < 4 {
    let x = z + 8 &* k
    let butterfly = Radix4(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
    butterfly.write(to + 4 &* k &* step, step)
    k &+= 1
  }
}

/// Inverse of `fft16`, unscaled, from its frequency order. Writes the last eight of 16 points to `to`, four vectors
/// apart; overlap-save discards the others.
@_noLocks @_noAllocation @inline(__always)
private func inverseFFT16(_ z: Vectors, _ twiddles: UnsafePointer<Float>, _ to: Vectors) {
  // Inverse FFT: the forward FFT with real and imaginary parts swapped on input and output.
  var k = 0
  while k < 4 {
    let x = z + 8 &* k
    var butterfly = Radix4(x[1], x[0], x[3], x[2], x[5], x[4], x[7], x[6])
    if k > 0 { butterfly.apply(Twiddles(twiddles + 6 &* k)) }
    butterfly.write(x, 2)
    k &+= 1
  }
  var n = 0
  while n < 4 {
    let x = z + 2 &* n
    let butterfly = Radix4(x[0], x[1], x[8], x[9], x[16], x[17], x[24], x[25])
    let y = to + 4 &* n
    y[0] = butterfly.i2
    y[1] = butterfly.r2
    y[16] = butterfly.i3
    y[17] = butterfly.r3
    n &+= 1
  }
}
