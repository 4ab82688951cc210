import CRealtime

// One complex transform, neighbouring points in the lanes of a vector: Stockham's self-sorting form in radix 4.
// - Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), ch. 1.7.

/// Transforms `re`, `im` of `plan.size` points (at least four vectors), by way of `scratch` of twice that many
/// floats; e^(−jωn), unscaled. The inverse is the same with `re` and `im` exchanged.
@_noLocks @_noAllocation
func transformRow(_ plan: pinna_row_transform, _ re: Floats, _ im: Floats, _ scratch: Floats) {
  let size = plan.size
  var (xr, xi, yr, yi) = (re, im, scratch, scratch + size)
  firstRow(plan, xr, xi, yr, yi)
  swap(&xr, &yr)
  swap(&xi, &yi)
  var stride = 4
  var turns = plan.others!
  if laneCount() > 4 {
    secondRow(plan, xr, xi, yr, yi)
    swap(&xr, &yr)
    swap(&xi, &yi)
    stride = 16
  }
  while stride <= size / 4 {
    widePass(size, stride, turns, xr, xi, yr, yi)
    turns += 6 &* (size / stride / 4)
    swap(&xr, &yr)
    swap(&xi, &yi)
    stride &*= 4
  }
  if stride < size {
    // Sums and differences are left. They may land where they come from.
    lastPass(size, xr, xi, re, im)
  } else if xr != re {
    copy(xr, re, size)
    copy(xi, im, size)
  }
}

@_noLocks @_noAllocation @inline(__always)
func copy(_ from: UnsafePointer<Float>, _ to: Floats, _ count: Int) {
  var n = 0
  while n &+ laneCount() <= count {
    store(load(from + n), to + n)
    n &+= laneCount()
  }
  while n < count {
    to[n] = from[n]
    n &+= 1
  }
}

/// Twiddles of neighbouring butterflies. Shape of the table: `[6][count]`.
@_noLocks @_noAllocation @inline(__always)
private func turn(_ quad: inout Quad, _ table: UnsafePointer<Float>, _ count: Int) {
  var t = Turns(table)
  t.r1 = load(table)
  t.i1 = load(table + count)
  t.r2 = load(table + 2 &* count)
  t.i2 = load(table + 3 &* count)
  t.r3 = load(table + 4 &* count)
  t.i3 = load(table + 5 &* count)
  quad.turn(t)
}

@_noLocks @_noAllocation @inline(__always)
private func quad(_ xr: Floats, _ xi: Floats, _ step: Int) -> Quad {
  Quad(
    load(xr), load(xi), load(xr + step), load(xi + step), load(xr + 2 &* step), load(xi + 2 &* step),
    load(xr + 3 &* step), load(xi + 3 &* step))
}

/// Butterflies side by side; their outputs four by four.
@_noLocks @_noAllocation
private func firstRow(_ plan: pinna_row_transform, _ xr: Floats, _ xi: Floats, _ yr: Floats, _ yi: Floats) {
  let quarter = plan.size / 4
  var p = 0
  while p < quarter {
    var q = quad(xr + p, xi + p, quarter)
    turn(&q, plan.first + p, quarter)
    weave(q.r0, q.r1, q.r2, q.r3, yr + 4 &* p)
    weave(q.i0, q.i1, q.i2, q.i3, yi + 4 &* p)
    p &+= laneCount()
  }
}

/// a0 b0 c0 d0 a1 b1 …
@_noLocks @_noAllocation @inline(__always)
private func weave(_ a: Lanes, _ b: Lanes, _ c: Lanes, _ d: Lanes, _ y: Floats) {
  let ac = zip(a, c)
  let bd = zip(b, d)
  let low = zip(ac.low, bd.low)
  let high = zip(ac.high, bd.high)
  store(low.low, y)
  store(low.high, y + laneCount())
  store(high.low, y + 2 &* laneCount())
  store(high.high, y + 3 &* laneCount())
}

/// Butterflies of four neighbours, several to a vector; their outputs four by four in pieces of four.
@_noLocks @_noAllocation
private func secondRow(_ plan: pinna_row_transform, _ xr: Floats, _ xi: Floats, _ yr: Floats, _ yi: Floats) {
  let quarter = plan.size / 4
  var p = 0
  while p < quarter {
    var q = quad(xr + p, xi + p, quarter)
    turn(&q, plan.second + p, quarter)
    pieces(q.r0, yr + 4 &* p)
    pieces(q.r1, yr + (4 &* p &+ 4))
    pieces(q.r2, yr + (4 &* p &+ 8))
    pieces(q.r3, yr + (4 &* p &+ 12))
    pieces(q.i0, yi + 4 &* p)
    pieces(q.i1, yi + (4 &* p &+ 4))
    pieces(q.i2, yi + (4 &* p &+ 8))
    pieces(q.i3, yi + (4 &* p &+ 12))
    p &+= laneCount()
  }
}

@_noLocks @_noAllocation @inline(__always)
private func pieces(_ v: Lanes, _ y: Floats) {
  #if LANES_16
    storeFour(v.lowHalf.lowHalf, y)
    storeFour(v.lowHalf.highHalf, y + 16)
    storeFour(v.highHalf.lowHalf, y + 32)
    storeFour(v.highHalf.highHalf, y + 48)
  #elseif LANES_8
    storeFour(v.lowHalf, y)
    storeFour(v.highHalf, y + 16)
  #endif
}

@_noLocks @_noAllocation
private func widePass(
  _ size: Int, _ stride: Int, _ table: UnsafePointer<Float>, _ xr: Floats, _ xi: Floats, _ yr: Floats,
  _ yi: Floats
) {
  let quarter = size / 4
  let butterflies = quarter / stride
  var turns = table
  var p = 0
  while p < butterflies {
    let t = Turns(turns)
    var n = 0
    while n < stride {
      let x = p &* stride &+ n
      let y = 4 &* p &* stride &+ n
      var q = quad(xr + x, xi + x, quarter)
      if p > 0 { q.turn(t) }
      store(q.r0, yr + y)
      store(q.i0, yi + y)
      store(q.r1, yr + (y &+ stride))
      store(q.i1, yi + (y &+ stride))
      store(q.r2, yr + (y &+ 2 &* stride))
      store(q.i2, yi + (y &+ 2 &* stride))
      store(q.r3, yr + (y &+ 3 &* stride))
      store(q.i3, yi + (y &+ 3 &* stride))
      n &+= laneCount()
    }
    turns += 6
    p &+= 1
  }
}

@_noLocks @_noAllocation
private func lastPass(_ size: Int, _ xr: Floats, _ xi: Floats, _ yr: Floats, _ yi: Floats) {
  let half = size / 2
  var n = 0
  while n < half {
    let (ar, ai, br, bi) = (load(xr + n), load(xi + n), load(xr + (half &+ n)), load(xi + (half &+ n)))
    store(ar + br, yr + n)
    store(ai + bi, yi + n)
    store(ar - br, yr + (half &+ n))
    store(ai - bi, yi + (half &+ n))
    n &+= laneCount()
  }
}
