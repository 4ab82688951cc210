import CRealtime

/// This period's outputs of `count` voices.
///
/// Where products are formed ahead, units take turns: each forms this period's sum and the known part of the next
/// three every fourth period, and completes one of them in the periods between. A voice that has just begun goes
/// over to that within sixteen periods, a sixteenth of its units at a time.
@_noLocks @_noAllocation
func synthesise(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>, _ count: Int
) {
  var voice = 0
  while voice < count {
    play(c, voices + voice)
    voice &+= 1
  }
}

@_noLocks @_noAllocation
private func play(_ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>) {
  let w = Walk(c)
  let units = c.pointee.units
  if c.pointee.ahead == 0 {
    var u = 0
    while u < units {
      finish(c, w, voice, u)
      u &+= 2
    }
  } else {
    let share = units / 4
    let steps = min(4, share / 2)
    var turn = 0
    while turn < 4 {
      // Periods since this share last had its turn.
      let since = (c.pointee.phase &+ turn) & 3
      let ready = voice.pointee.age < since ? 0 : min(steps, (voice.pointee.age &- since) / 4 &+ 1)
      let first = turn &* share
      let border = first &+ (ready == steps ? share : ready &* (share / steps / 2 &* 2))
      var u = first
      while u < border {
        if since == 0 { formAhead(c, w, voice, u) } else { complete(c, w, voice, u, since) }
        u &+= 2
      }
      while u < first &+ share {
        finish(c, w, voice, u)
        u &+= 2
      }
      turn &+= 1
    }
    voice.pointee.age &+= 1
  }
  if c.pointee.across != 0 { order(c) }
  nyquist(c, voice)
  invert(c, voice)
}

/// The whole sum of two units.
@_noLocks @_noAllocation @inline(__always)
private func finish(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* w.unit)
  let h = vectors(voice.pointee.bins) + u &* w.filterUnit
  place(c, u, straight(w, x, h, w.partitions, Sums()))
}

@_noLocks @_noAllocation
private func complete(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ since: Int
) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* w.unit)
  let h = vectors(voice.pointee.bins) + u &* w.filterUnit
  let known = vectors(voice.pointee.sums) + (u &* 12 &+ (since &- 1) &* 2)
  var start = Sums()
  (start.r0, start.i0, start.r1, start.i1) = (known[0], known[1], known[6], known[7])
  (start.r2, start.i2, start.r3, start.i3) = (known[12], known[13], known[18], known[19])
  place(c, u, straight(w, x, h, since, start))
}

@_noLocks @_noAllocation
private func formAhead(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int
) {
  var now = Sums()
  (now.r0, now.i0) = formAhead(c, w, voice, u, 0)
  (now.r1, now.i1) = formAhead(c, w, voice, u, 1)
  (now.r2, now.i2) = formAhead(c, w, voice, u &+ 1, 0)
  (now.r3, now.i3) = formAhead(c, w, voice, u &+ 1, 1)
  place(c, u, now)
}

@_noLocks @_noAllocation
private func formAhead(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ w: Walk, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ output: Int
) -> (Lanes, Lanes) {
  let x = UnsafePointer(vectors(c.pointee.spectra) + u &* w.unit)
  let h = vectors(voice.pointee.bins) + (output &* w.filterOutput &+ u &* w.filterUnit)
  let sums = ahead(w, x, h)
  let known = vectors(voice.pointee.sums) + (u &* 12 &+ output &* 6)
  (known[0], known[1]) = (sums.r1, sums.i1)
  (known[2], known[3]) = (sums.r2, sums.i2)
  (known[4], known[5]) = (sums.r3, sums.i3)
  return (sums.r0, sums.i0)
}

// MARK: Left + j·right as one spectrum

/// Puts finished sums of units `u` and `u + 1` where the inverse transform reads them.
@_noLocks @_noAllocation @inline(__always)
private func place(_ c: UnsafeMutablePointer<pinna_convolver>, _ u: Int, _ s: Sums) {
  if c.pointee.across == 0 {
    let (re, im) = (c.pointee.re!, c.pointee.im!)
    let size = 2 &* c.pointee.half
    spread(re, im, size, u &* laneCount(), s.r0, s.i0, s.r1, s.i1)
    spread(re, im, size, (u &+ 1) &* laneCount(), s.r2, s.i2, s.r3, s.i3)
    return
  }
  // Sums over lanes, which are microphones; put in order when all are there.
  let gathered = c.pointee.scratch + 4 &* u
  storeFour(totals(s.r0 - s.i1, s.i0 + s.r1, s.r0 + s.i1, s.r1 - s.i0), gathered)
  storeFour(totals(s.r2 - s.i3, s.i2 + s.r3, s.r2 + s.i3, s.r3 - s.i2), gathered + 4)
}

/// Gathered sums, four bins at a time: re and im of a bin, and of the one that mirrors it.
@_noLocks @_noAllocation
private func order(_ c: UnsafeMutablePointer<pinna_convolver>) {
  let (re, im) = (c.pointee.re!, c.pointee.im!)
  let size = 2 &* c.pointee.half
  var k = 0
  while k < c.pointee.half {
    let x = c.pointee.scratch + 4 &* k
    let ac = zip4(loadFour(x), loadFour(x + 8))
    let bd = zip4(loadFour(x + 4), loadFour(x + 12))
    let low = zip4(ac.low, bd.low)
    let high = zip4(ac.high, bd.high)
    storeFour(low.low, re + k)
    storeFour(low.high, im + k)
    storeFour(backwards(high.low), re + (size &- k &- 3))
    storeFour(backwards(high.high), im + (size &- k &- 3))
    k &+= 4
  }
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
  var age = partitions &- 1
  while age >= 0 {
    let slot = c.pointee.newest &- age
    let x = vectors(c.pointee.nyquist) + (slot < 0 ? slot &+ partitions : slot) &* edges
    var n = 0
    while n < edges {
      l = plus(l, x[n], h[n])
      r = plus(r, x[n], h[right &+ n])
      n &+= 1
    }
    if age % c.pointee.chunk == 0 {
      totalLeft += l
      totalRight += r
      (l, r) = (Lanes.zero, Lanes.zero)
    }
    h += edges
    age &-= 1
  }
  c.pointee.re[c.pointee.half] = total(totalLeft)
  c.pointee.im[c.pointee.half] = total(totalRight)
}

@_noLocks @_noAllocation @inline(__always)
private func invert(_ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>) {
  let (re, im) = (c.pointee.re!, c.pointee.im!)
  transformRow(c.pointee.rows, im, re, c.pointee.scratch)
  let first = 2 &* c.pointee.half &- c.pointee.period
  copy(re + first, voice.pointee.left, c.pointee.period)
  copy(im + first, voice.pointee.right, c.pointee.period)
}
