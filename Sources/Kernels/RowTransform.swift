import CRealtime

// One complex transform, neighbouring points in the lanes of a vector: Stockham's self-sorting form in radix 4.
// - Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), ch. 1.7.

/// Transforms `re`, `im` of `plan.size` points (at least four vectors), by way of `scratch` of twice that many
/// floats; e^(−jωn), unscaled. The inverse is the same with `re` and `im` exchanged.
@_noLocks @_noAllocation
func transformRow(_ plan: pinna_row_transform, _ re: Floats, _ im: Floats, _ scratch: Floats) {
  let size = plan.size
  var (xr, xi, yr, yi) = (re, im, scratch, scratch + size)
  beside(size, plan.first, xr, xi)
  weave(size, xr, yr)
  weave(size, xi, yi)
  swap(&xr, &yr)
  swap(&xi, &yi)
  var stride = 4
  var turns = plan.others!
  if laneCount() > 4 {
    beside(size, plan.second, xr, xi)
    pieces(size, xr, yr)
    pieces(size, xi, yi)
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

// The two passes whose outputs stand closer than a vector: butterflies side by side, in place, and then a loop of its
// own that puts them in order. In one loop the compiler takes every vector of products apart.

@_noLocks @_noAllocation
private func beside(_ size: Int, _ table: UnsafePointer<Float>, _ xr: Floats, _ xi: Floats) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    var q = quad(xr + p, xi + p, quarter)
    turn(&q, table + p, quarter)
    store(q.r0, xr + p)
    store(q.i0, xi + p)
    store(q.r1, xr + (quarter &+ p))
    store(q.i1, xi + (quarter &+ p))
    store(q.r2, xr + (2 &* quarter &+ p))
    store(q.i2, xi + (2 &* quarter &+ p))
    store(q.r3, xr + (3 &* quarter &+ p))
    store(q.i3, xi + (3 &* quarter &+ p))
    p &+= laneCount()
  }
}

/// The four quarters in turn, number by number.
@_noLocks @_noAllocation
private func weave(_ size: Int, _ x: Floats, _ y: Floats) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    let ac = zip4(loadFour(x + p), loadFour(x + (2 &* quarter &+ p)))
    let bd = zip4(loadFour(x + (quarter &+ p)), loadFour(x + (3 &* quarter &+ p)))
    let low = zip4(ac.low, bd.low)
    let high = zip4(ac.high, bd.high)
    storeFour(low.low, y + 4 &* p)
    storeFour(low.high, y + (4 &* p &+ 4))
    storeFour(high.low, y + (4 &* p &+ 8))
    storeFour(high.high, y + (4 &* p &+ 12))
    p &+= 4
  }
}

/// The four quarters in turn, four by four.
@_noLocks @_noAllocation
private func pieces(_ size: Int, _ x: Floats, _ y: Floats) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    storeFour(loadFour(x + p), y + 4 &* p)
    storeFour(loadFour(x + (quarter &+ p)), y + (4 &* p &+ 4))
    storeFour(loadFour(x + (2 &* quarter &+ p)), y + (4 &* p &+ 8))
    storeFour(loadFour(x + (3 &* quarter &+ p)), y + (4 &* p &+ 12))
    p &+= 4
  }
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
