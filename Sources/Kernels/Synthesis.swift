import CRealtime

/// This period's outputs of `count` voices; nothing but the tail of one that is not to be heard yet.
///
/// Where products are formed ahead, the two halves of the units take turns: one forms this period's sums and the known
/// part of the next, the other completes what it formed the period before. A voice that has just begun goes over to that
/// within eight periods.
@_noLocks @_noAllocation
func synthesise(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>, _ count: Int
) {
  var voice = 0
  while voice < count {
    if c.pointee.tail.blocks > 0 { sumTail(c, voices + voice) }
    voice &+= 1
  }
  let w = Walk(c)
  let share = c.pointee.ahead == 0 ? c.pointee.units : c.pointee.units / 2
  // Few units at a time, so that the second voice finds their spectra at hand.
  let step = min(4, share)
  var first = 0
  while first < c.pointee.units {
    voice = 0
    while voice < count {
      if voices[voice].left != nil { sum(c, w, voices + voice, first, step, share) }
      voice &+= 1
    }
    first &+= step
  }
  voice = 0
  while voice < count {
    if voices[voice].left != nil {
      (voices + voice).pointee.age &+= 1
      nyquist(c, voices + voice)
      invert(c, voices + voice)
    }
    voice &+= 1
  }
}

/// Sums of `step` units from `first` on.
@_noLocks @_noAllocation @inline(__always)
private func sum(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>,
  _ first: Int,
  _ step: Int, _ share: Int
) {
  // Periods since these units last had their turn.
  let since = (c.pointee.clock &+ (first < share ? 0 : 1)) & 1
  let isReady =
    c.pointee.ahead != 0
    && isReady(first < share ? first : first &- share, of: share, step, age: voice.pointee.age &- since)
  var u = first
  while u < first &+ step {
    if !isReady {
      finish(c, w, voice, u)
    } else if since == 0 {
      formAhead(c, w, voice, u)
    } else {
      complete(c, w, voice, u)
    }
    u &+= 2
  }
}

/// Whether a voice that began `age` periods before its last turn forms these units' products ahead by then: a quarter of
/// them more every other period.
@_noLocks @_noAllocation @inline(__always)
private func isReady(_ unit: Int, of share: Int, _ step: Int, age: Int) -> Bool {
  age >= 0 && 4 &* unit < (age / 2 &+ 1) &* share
}

/// The whole sum of two units.
@_noLocks @_noAllocation @inline(__always)
private func finish(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* w.unit)
  let h = vectors(voice.pointee.bins) + u &* w.filterUnit
  place(c, voice, u, straight(w, x, h))
}

@_noLocks @_noAllocation
private func complete(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + (u &* w.unit &+ w.newest &* w.slot))
  let h = vectors(voice.pointee.bins) + ((u &+ 1) &* w.filterUnit &- w.slot)
  let known = vectors(voice.pointee.sums) + u &* 4
  var sums = Sums()
  (sums.r0, sums.i0, sums.r1, sums.i1) = (known[0], known[1], known[2], known[3])
  (sums.r2, sums.i2, sums.r3, sums.i3) = (known[4], known[5], known[6], known[7])
  sums.addPair(w, x, h, w.slot)
  place(c, voice, u, sums)
}

@_noLocks @_noAllocation
private func formAhead(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* w.unit)
  let h = vectors(voice.pointee.bins) + u &* w.filterUnit
  let known = vectors(voice.pointee.sums) + u &* 4
  let a = ahead(w, x, h)
  (known[0], known[1], known[2], known[3]) = (a.r1, a.i1, a.r3, a.i3)
  let b = ahead(w, x + w.unit, h + w.filterUnit)
  (known[4], known[5], known[6], known[7]) = (b.r1, b.i1, b.r3, b.i3)
  var now = Sums()
  (now.r0, now.i0, now.r1, now.i1) = (a.r0, a.i0, a.r2, a.i2)
  (now.r2, now.i2, now.r3, now.i3) = (b.r0, b.i0, b.r2, b.i2)
  place(c, voice, u, now)
}

// MARK: Left + j·right as one spectrum

/// Puts finished sums of units `u` and `u + 1` where the inverse transform reads them.
@_noLocks @_noAllocation @inline(__always)
private func place(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ sums: Sums
) {
  var s = sums
  if c.pointee.tail.blocks > 0 { addTail(c, voice, u, &s) }
  if c.pointee.across == 0 {
    let (re, im) = (voice.pointee.re!, voice.pointee.im!)
    let size = 2 &* c.pointee.half
    spread(re, im, size, u &* laneCount(), s.r0, s.i0, s.r1, s.i1)
    spread(re, im, size, (u &+ 1) &* laneCount(), s.r2, s.i2, s.r3, s.i3)
    return
  }
  let gathered = c.pointee.gathered + 16 &* (u & 3)
  storeFour(four(s.r0 - s.i1), gathered)
  storeFour(four(s.i0 + s.r1), gathered + 4)
  storeFour(four(s.r0 + s.i1), gathered + 8)
  storeFour(four(s.r1 - s.i0), gathered + 12)
  storeFour(four(s.r2 - s.i3), gathered + 16)
  storeFour(four(s.i2 + s.r3), gathered + 20)
  storeFour(four(s.r2 + s.i3), gathered + 24)
  storeFour(four(s.r3 - s.i2), gathered + 28)
  if u & 2 != 0 { addLanes(c, voice, u &- 2) }
}

/// Sums over lanes, which are microphones, of four gathered bins from `k` on: re and im of each, and of the one that
/// mirrors it. On its own, by way of memory: inlined, the compiler takes the vectors apart.
@_noLocks @_noAllocation @inline(never)
private func addLanes(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ k: Int
) {
  let (re, im) = (voice.pointee.re!, voice.pointee.im!)
  let mirrored = 2 &* c.pointee.half &- k &- 3
  let x = c.pointee.gathered!
  storeFour(lanesAdded(x), re + k)
  storeFour(lanesAdded(x + 4), im + k)
  storeFour(backwards(lanesAdded(x + 8)), re + mirrored)
  storeFour(backwards(lanesAdded(x + 12)), im + mirrored)
}

/// One sum of each of four bins.
@_noLocks @_noAllocation @inline(__always)
private func lanesAdded(_ x: UnsafePointer<Float>) -> Four {
  let ac = zip4(loadFour(x), loadFour(x + 32))
  let bd = zip4(loadFour(x + 16), loadFour(x + 48))
  let low = zip4(ac.low, bd.low)
  let high = zip4(ac.high, bd.high)
  return (low.low + low.high) + (high.low + high.high)
}

/// The same where neighbouring bins are in the lanes.
@_noLocks @_noAllocation @inline(__always)
private func spread(
  _ re: Floats, _ im: Floats, _ size: Int, _ k: Int, _ lr: Lanes, _ li: Lanes, _ rr: Lanes, _ ri: Lanes
) {
  store(lr - ri, re + k)
  store(li + rr, im + k)
  let mirrored = size &- k &- laneCount() &+ 1
  store(reversed(lr + ri), re + mirrored)
  store(reversed(rr - li), im + mirrored)
}

@_noLocks @_noAllocation @inline(__always)
private func nyquist(_ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>) {
  let edges = c.pointee.edges
  let partitions = c.pointee.partitions
  let right = partitions &* edges
  var h = vectors(voice.pointee.nyquist)
  var l = Lanes.zero
  var r = Lanes.zero
  var (totalLeft, totalRight) = (Lanes.zero, Lanes.zero)
  // The oldest stands behind the newest.
  var slot = c.pointee.newestEdge
  var left = partitions
  while left > 0 {
    // Chunks as of the other bins: what is over comes first.
    var size = left > c.pointee.chunk ? (left &- 1) % c.pointee.chunk &+ 1 : left
    left &-= size
    while size > 0 {
      slot = slot &+ 1 == partitions ? 0 : slot &+ 1
      let x = vectors(c.pointee.nyquist) + slot &* edges
      var n = 0
      while n < edges {
        l = plus(l, x[n], h[n])
        r = plus(r, x[n], h[right &+ n])
        n &+= 1
      }
      h += edges
      size &-= 1
    }
    totalLeft += l
    totalRight += r
    (l, r) = (Lanes.zero, Lanes.zero)
  }
  voice.pointee.re[c.pointee.half] = total(totalLeft)
  voice.pointee.im[c.pointee.half] = total(totalRight)
}

@_noLocks @_noAllocation @inline(__always)
private func invert(_ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>) {
  let (re, im) = (voice.pointee.re!, voice.pointee.im!)
  transformRow(c.pointee.rows, im, re, im, re, c.pointee.scratch, isUpper: true)
  let first = 2 &* c.pointee.half &- c.pointee.period
  copy(re + first, voice.pointee.left, c.pointee.period)
  copy(im + first, voice.pointee.right, c.pointee.period)
}
