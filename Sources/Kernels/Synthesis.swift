import CRealtime

// Synthesis: from input spectra × filter spectra to one period of left and right.
//
//   spectra, filters      shapes: see SpectrumProduct.swift
//   sums     [unit][output][re, im][lane]
//              lanes are microphones: summed over lanes, four bins at a time, through `laneSums`
//              lanes are bins: stored as they are
//   re, im   | 0 … bins−1 | bins | bins+1 … 2·bins−1 |     spectrum of left + j·right, for one complex inverse FFT
//              L + jR       Nyquist  mirrored: L* + jR*, in reverse
//   left     real part of the last `period` points; right the imaginary part
//
// With pairing (`pairsPeriods`), one pass over the filters serves two periods. The halves of the units alternate:
//
//   period          n                      n + 1                   n + 2
//   units 0 … h−1   sumPaired              completePartialSums     sumPaired
//   units h …       completePartialSums    sumPaired               completePartialSums
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// Computes one period of output for `count` voices. For a voice without output, only its tail is computed.
///
/// A new voice starts with direct sums, and changes to pairing within eight periods.
@_noLocks @_noAllocation
func synthesise(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>, _ count: Int
) {
  if c.pointee.tail.blocks > 0 { sumTails(c, voices, count) }
  var voice = 0
  while voice < count {
    if voices[voice].left != nil { sumNyquist(c, voices + voice) }
    voice &+= 1
  }
  let ring = PartitionRing(c)
  let share = c.pointee.pairsPeriods == 0 ? c.pointee.units : c.pointee.units / 2
  // A few units at a time, so that the second voice finds their input spectra in the cache.
  let step = min(4, share)
  var done = 0
  while done < c.pointee.units {
    // Bins from the top down, so that the inverse FFT begins with what was stored first (see `analysePair`).
    let first = c.pointee.lanesAreMicrophones == 0 ? c.pointee.units &- step &- done : done
    voice = 0
    while voice < count {
      if voices[voice].left != nil { sumUnits(c, ring, voices + voice, first, step, share) }
      voice &+= 1
    }
    done &+= step
  }
  voice = 0
  while voice < count {
    if voices[voice].left != nil {
      (voices + voice).pointee.periodsHeard &+= 1
      inverseTransform(c, voices + voice)
    }
    voice &+= 1
  }
}

/// Computes the sums of `step` units from `first` on.
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
      first < share ? first : first &- share, of: share, step, age: voice.pointee.periodsHeard &- since)
  var u = first
  while u < first &+ step {
    if !isPairing {
      sumDirectly(c, ring, voice, u)
    } else if since == 0 {
      sumPaired(c, ring, voice, u)
    } else {
      completePartialSums(c, ring, voice, u)
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
  packSpectrum(c, voice, u, directSums(ring, x, h))
}

/// Second period of a pair: adds the newest partition to the partial sums of units `u` and `u + 1`.
@_noLocks @_noAllocation
private func completePartialSums(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ ring: PartitionRing,
  _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + (u &* ring.unitStride &+ ring.newest &* ring.slotStride))
  let h = vectors(voice.pointee.headSpectra) + ((u &+ 1) &* ring.filterUnitStride &- ring.slotStride)
  let partial = vectors(voice.pointee.partialSums) + u &* 4
  var sums = Accumulators()
  (sums.r0, sums.i0, sums.r1, sums.i1) = (partial[0], partial[1], partial[2], partial[3])
  (sums.r2, sums.i2, sums.r3, sums.i3) = (partial[4], partial[5], partial[6], partial[7])
  sums.accumulatePair(ring, x, h, ring.slotStride)
  packSpectrum(c, voice, u, sums)
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
  (partial[0], partial[1], partial[2], partial[3]) = (a.r1, a.i1, a.r3, a.i3)
  let b = pairedSums(ring, x + ring.unitStride, h + ring.filterUnitStride)
  (partial[4], partial[5], partial[6], partial[7]) = (b.r1, b.i1, b.r3, b.i3)
  var now = Accumulators()
  (now.r0, now.i0, now.r1, now.i1) = (a.r0, a.i0, a.r2, a.i2)
  (now.r2, now.i2, now.r3, now.i3) = (b.r0, b.i0, b.r2, b.i2)
  packSpectrum(c, voice, u, now)
}

// MARK: - Left + j·right as one spectrum

/// Adds the tail to the sums of units `u` and `u + 1`, and packs both outputs into one spectrum for the inverse FFT.
@_noLocks @_noAllocation @inline(__always)
private func packSpectrum(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ sums: Accumulators
) {
  var s = sums
  if c.pointee.tail.blocks > 0 { addTail(c, voice, u, &s) }
  if c.pointee.lanesAreMicrophones == 0 {
    let (re, im) = (voice.pointee.re!, voice.pointee.im!)
    let size = 2 &* c.pointee.bins
    packBins(re, im, size, u &* laneCount(), s.r0, s.i0, s.r1, s.i1)
    packBins(re, im, size, (u &+ 1) &* laneCount(), s.r2, s.i2, s.r3, s.i3)
    return
  }
  let laneSums = c.pointee.laneSums + 16 &* (u & 3)
  storeFour(foldToFour(s.r0 - s.i1), laneSums)
  storeFour(foldToFour(s.i0 + s.r1), laneSums + 4)
  storeFour(foldToFour(s.r0 + s.i1), laneSums + 8)
  storeFour(foldToFour(s.r1 - s.i0), laneSums + 12)
  storeFour(foldToFour(s.r2 - s.i3), laneSums + 16)
  storeFour(foldToFour(s.i2 + s.r3), laneSums + 20)
  storeFour(foldToFour(s.r2 + s.i3), laneSums + 24)
  storeFour(foldToFour(s.r3 - s.i2), laneSums + 28)
  if u & 2 != 0 { reduceLanesOfFourBins(c, voice, u &- 2) }
}

/// Sums over lanes (microphones) for bins `k` to `k + 3`, re and im, and for their mirrored bins.
///
/// It reads through memory and is never inlined: inlined, the compiler splits the vectors into scalars.
@_noLocks @_noAllocation @inline(never)
private func reduceLanesOfFourBins(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ k: Int
) {
  let (re, im) = (voice.pointee.re!, voice.pointee.im!)
  let mirrored = 2 &* c.pointee.bins &- k &- 3
  let x = c.pointee.laneSums!
  storeFour(reduceLanes(x), re + k)
  storeFour(reduceLanes(x + 4), im + k)
  storeFour(reversedFour(reduceLanes(x + 8)), re + mirrored)
  storeFour(reversedFour(reduceLanes(x + 12)), im + mirrored)
}

/// Transposes and adds: one sum over lanes for each of four bins.
@_noLocks @_noAllocation @inline(__always)
private func reduceLanes(_ x: UnsafePointer<Float>) -> Float4 {
  let ac = interleave(loadFour(x), loadFour(x + 32))
  let bd = interleave(loadFour(x + 16), loadFour(x + 48))
  let low = interleave(ac.low, bd.low)
  let high = interleave(ac.high, bd.high)
  return (low.low + low.high) + (high.low + high.high)
}

/// Packs one unit of both outputs where lanes are bins, at `k` and mirrored.
@_noLocks @_noAllocation @inline(__always)
private func packBins(
  _ re: Floats, _ im: Floats, _ size: Int, _ k: Int, _ lr: Lanes, _ li: Lanes, _ rr: Lanes, _ ri: Lanes
) {
  store(lr - ri, re + k)
  store(li + rr, im + k)
  let mirrored = size &- k &- laneCount() &+ 1
  store(reversed(lr + ri), re + mirrored)
  store(reversed(rr - li), im + mirrored)
}

/// The Nyquist bin, which is real. All partitions are summed directly.
@_noLocks @_noAllocation @inline(__always)
private func sumNyquist(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>
) {
  let edges = c.pointee.nyquistVectors
  let partitions = c.pointee.partitions
  let right = partitions &* edges
  var h = vectors(voice.pointee.nyquist)
  var l = Lanes.zero
  var r = Lanes.zero
  var (totalLeft, totalRight) = (Lanes.zero, Lanes.zero)
  // The ring is full: the oldest slot follows the newest.
  var slot = c.pointee.newestNyquistSlot
  var left = partitions
  while left > 0 {
    // The same chunks as for the other bins: the oldest chunk takes the remainder.
    var size = left > c.pointee.chunk ? (left &- 1) % c.pointee.chunk &+ 1 : left
    left &-= size
    while size > 0 {
      slot = slot &+ 1 == partitions ? 0 : slot &+ 1
      let x = vectors(c.pointee.nyquist) + slot &* edges
      var n = 0
      while n < edges {
        l = multiplyAdd(l, x[n], h[n])
        r = multiplyAdd(r, x[n], h[right &+ n])
        n &+= 1
      }
      h += edges
      size &-= 1
    }
    totalLeft += l
    totalRight += r
    (l, r) = (Lanes.zero, Lanes.zero)
  }
  voice.pointee.re[c.pointee.bins] = sumOfLanes(totalLeft)
  voice.pointee.im[c.pointee.bins] = sumOfLanes(totalRight)
}

/// Inverse FFT of left + j·right; copies the last period, which is free of wrap-around.
@_noLocks @_noAllocation @inline(__always)
private func inverseTransform(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>
) {
  let (re, im) = (voice.pointee.re!, voice.pointee.im!)
  rowFFT(c.pointee.rowFFT, im, re, im, re, c.pointee.scratch, isUpper: true)
  let first = 2 &* c.pointee.bins &- c.pointee.period
  copy(re + first, voice.pointee.left, c.pointee.period)
  copy(im + first, voice.pointee.right, c.pointee.period)
}
