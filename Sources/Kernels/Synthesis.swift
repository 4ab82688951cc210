import CRealtime

// Synthesis: from input spectra × filter spectra to one period of left and right.
//
//   spectra, filters      shapes: see SpectrumProduct.swift
//   sums     [unit][output][re, im][lane]
//              lanes are microphones: summed over lanes
//              lanes are bins: stored as they are
//   spectra of the voice    [output][re, im][bin]    for one inverse FFT of N points per output
//   left, right             the last `period` frames of the second half of the window: the imaginary parts of the
//                           transform, with the weights removed
//
// With pairing (`pairsPeriods`), one pass over the filters serves two periods. The halves of the units alternate:
//
//   period          n                      n + 1                   n + 2
//   units 0 … h−1   sumPaired              completePartialSums     sumPaired
//   units h …       completePartialSums    sumPaired               completePartialSums
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// Computes one period of output for `count` voices. For a voice without output, only what later periods need is computed:
/// its tail, and the sums that begin a pair.
///
/// A new voice starts with direct sums, and changes to pairing within eight periods.
@_noLocks @_noAllocation
func synthesise(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>, _ count: Int
) {
  if c.pointee.tail.blocks > 0 { sumTails(c, voices, count) }
  let ring = PartitionRing(c)
  let share = c.pointee.pairsPeriods == 0 ? c.pointee.units : c.pointee.units / 2
  // A few units at a time, so that the second voice finds their input spectra in the cache.
  let step = min(4, share)
  var done = 0
  while done < c.pointee.units {
    var voice = 0
    while voice < count {
      sumUnits(c, ring, voices + voice, done, step, share)
      voice &+= 1
    }
    done &+= step
  }
  var voice = 0
  while voice < count {
    voices[voice].periodsPlayed &+= 1
    if voices[voice].left != nil { inverseTransform(c, voices + voice) }
    voice &+= 1
  }
}

/// Computes the sums of `step` units from `first` on; for a voice without output, only those that begin a pair.
/// - Parameter share: half of the units with pairing, else all of them.
@_noLocks @_noAllocation @inline(__always)
private func sumUnits(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>,
  _ first: Int,
  _ step: Int, _ share: Int
) {
  // 0 if these units compute paired sums in this period, 1 if they did in the last.
  let since = (c.pointee.periodIndex &+ (first < share ? 0 : 1)) & 1
  let isPairing =
    c.pointee.pairsPeriods != 0
    && hasStartedPairing(
      first < share ? first : first &- share, of: share, step, age: voice.pointee.periodsPlayed &- since)
  let beginsPairs = isPairing && since == 0
  if voice.pointee.left == nil && !beginsPairs { return }
  var u = first
  while u < first &+ step {
    if beginsPairs {
      sumPaired(c, ring, voice, u)
    } else if isPairing {
      completePartialSums(c, ring, voice, u)
    } else {
      sumDirectly(c, ring, voice, u)
    }
    u &+= 2
  }
}

/// Whether a voice already used pairing when these units last began a pair. Every second period, another quarter of
/// each half changes to pairing, which spreads the extra work.
/// - Parameter age: periods from the voice's start to the beginning of that pair.
@_noLocks @_noAllocation @inline(__always)
private func hasStartedPairing(_ unit: Int, of share: Int, _ step: Int, age: Int) -> Bool {
  age >= 0 && 4 &* unit < (age / 2 &+ 1) &* share
}

/// The sums of units `u` and `u + 1`, all in this period.
@_noLocks @_noAllocation @inline(__always)
private func sumDirectly(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* ring.unitStride)
  let h = vectors(voice.pointee.headSpectra) + u &* ring.filterUnitStride
  completeSums(c, ring, voice, u, directSums(ring, x, h, from: 1))
}

/// Second period of a pair: adds the newest partition to the partial sums of units `u` and `u + 1`.
@_noLocks @_noAllocation
private func completePartialSums(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let partial = vectors(voice.pointee.partialSums) + u &* 4
  completeSums(
    c, ring, voice, u,
    FourSums(ComplexSum(partial), ComplexSum(partial + 2), ComplexSum(partial + 4), ComplexSum(partial + 6)))
}

/// Adds the newest partition to the sums of units `u` and `u + 1`.
@_noLocks @_noAllocation @inline(__always)
private func completeSums(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int, _ older: FourSums
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + (u &* ring.unitStride &+ ring.newest &* ring.slotStride))
  let h = vectors(voice.pointee.headSpectra) + ((u &+ 1) &* ring.filterUnitStride &- ring.slotStride)
  var sums = FourAccumulators(older)
  addPair(&sums, ring, x, h, ring.slotStride)
  storeSums(c, voice, u, sums.sums)
}

/// First period of a pair: the sums of units `u` and `u + 1`, and the partial sums of the next period.
@_noLocks @_noAllocation
private func sumPaired(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* ring.unitStride)
  let h = vectors(voice.pointee.headSpectra) + u &* ring.filterUnitStride
  let partial = vectors(voice.pointee.partialSums) + u &* 4
  let a = pairedSums(ring, x, h)
  a.s1.write(partial)
  a.s3.write(partial + 2)
  let b = pairedSums(ring, x + ring.unitStride, h + ring.filterUnitStride)
  b.s1.write(partial + 4)
  b.s3.write(partial + 6)
  storeSums(c, voice, u, FourSums(a.s0, a.s2, b.s0, b.s2))
}

// MARK: - From sums to outputs

/// Adds the tail to the sums of units `u` and `u + 1`, and stores the spectra of both outputs.
@_noLocks @_noAllocation @inline(__always)
private func storeSums(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ sums: FourSums
) {
  var s = sums
  if c.pointee.tail.blocks > 0 { addTail(c, voice, u, &s) }
  let row = c.pointee.rowStride
  if c.pointee.lanesAreMicrophones == 0 {
    let to = voice.pointee.spectra + u &* laneCount()
    store(s.s0.re, to)
    store(s.s0.im, to + row)
    store(s.s1.re, to + 2 &* row)
    store(s.s1.im, to + 3 &* row)
    store(s.s2.re, to + laneCount())
    store(s.s2.im, to + (row &+ laneCount()))
    store(s.s3.re, to + (2 &* row &+ laneCount()))
    store(s.s3.im, to + (3 &* row &+ laneCount()))
    return
  }
  let to = voice.pointee.spectra + u
  pinna_store_sums_of_lanes(
    s.s0.re, s.s0.im, s.s1.re, s.s1.im, s.s2.re, s.s2.im, s.s3.re, s.s3.im, to, to + row, to + 2 &* row,
    to + 3 &* row)
}

/// Inverse FFT of both outputs; copies the last period, which is free of wrap-around.
@_noLocks @_noAllocation @inline(__always)
private func inverseTransform(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>
) {
  let (bins, period, row) = (c.pointee.bins, c.pointee.period, c.pointee.rowStride)
  let left = voice.pointee.spectra!
  let right = left + 2 &* row
  // A period shorter than half of the window goes through memory that is free by now.
  let isWhole = period == bins
  let (toLeft, toRight) = isWhole ? (voice.pointee.left!, voice.pointee.right!) : (left, right)
  #if LANES_8
    if bins == 16 {
      fftsOf16(c.pointee.rowFFT, left + row, left, right + row, right, toLeft, toRight)
    } else {
      inverseRow(c, left, toLeft)
      inverseRow(c, right, toRight)
    }
  #else
    inverseRow(c, left, toLeft)
    inverseRow(c, right, toRight)
  #endif
  if !isWhole {
    copy(left + (bins &- period), voice.pointee.left, period)
    copy(right + (bins &- period), voice.pointee.right, period)
  }
}

@_noLocks @_noAllocation @inline(__always)
private func inverseRow(_ c: UnsafeMutablePointer<pinna_convolver>, _ spectrum: Floats, _ frames: Floats) {
  let plan = c.pointee.rowFFT
  rowFFT(
    plan, spectrum + c.pointee.rowStride, spectrum, Rows(c.pointee.work, c), Rows(c.pointee.scratch, c),
    .frames(frames, cosines: plan.weights, sines: plan.weights + plan.size))
}
