import CRealtime

// One complex transform, neighbouring points in the lanes of a vector: Stockham's self-sorting form in radix 4.
// - Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), ch. 1.7.

/// Transforms `fromRe`, `fromIm` of `plan.size` points (at least four vectors) into `re`, `im`, by way of `scratch` of
/// twice that many floats; e^(−jωn), unscaled. The inverse is the same with real and imaginary parts exchanged.
/// - Parameter isUpper: only the second half of what comes out is wanted.
@_noLocks @_noAllocation @inline(__always)
func transformRow(
  _ plan: pinna_row_transform, _ fromRe: UnsafePointer<Float>, _ fromIm: UnsafePointer<Float>, _ re: Floats,
  _ im: Floats, _ scratch: Floats, isUpper: Bool
) {
  let size = plan.size
  var (xr, xi, yr, yi) = (re, im, scratch, scratch + size)
  let quarter = size / 4
  var stride = 4
  var turns = plan.others!
  beside(size, 1, plan.first, fromRe, fromIm, xr, xi)
  if size >= 16 &* laneCount() {
    // Two passes stay where they are, and are put in order at once.
    beside(quarter, 4, plan.second, xr, xi, xr, xi)
    weave(size, 4, xr, yr)
    weave(size, 4, xi, yi)
    swap(&xr, &yr)
    swap(&xi, &yi)
    stride = 16
  } else {
    weave(size, 1, xr, yr)
    weave(size, 1, xi, yi)
    swap(&xr, &yr)
    swap(&xi, &yi)
    if laneCount() > 4 {
      beside(size, 1, plan.second, xr, xi, xr, xi)
      pieces(size, xr, yr)
      pieces(size, xi, yi)
      swap(&xr, &yr)
      swap(&xi, &yi)
      stride = 16
    }
  }
  while stride <= size / 4 {
    if isUpper, stride == size / 4 {
      upperPass(size, xr, xi, yr, yi)
    } else {
      widePass(size, stride, turns, xr, xi, yr, yi)
    }
    turns += 6 &* (size / stride / 4)
    swap(&xr, &yr)
    swap(&xi, &yi)
    stride &*= 4
  }
  if stride < size {
    // Sums and differences are left. They may land where they come from.
    lastPass(size, xr, xi, re, im)
  } else if xr != re {
    let first = isUpper ? size / 2 : 0
    copy(xr + first, re + first, size &- first)
    copy(xi + first, im + first, size &- first)
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

extension Turns {
  /// Of neighbouring butterflies. Shape of the table: `[6][count]`.
  @_noLocks @_noAllocation @inline(__always)
  fileprivate init(_ table: UnsafePointer<Float>, count: Int) {
    r1 = load(table)
    i1 = load(table + count)
    r2 = load(table + 2 &* count)
    i2 = load(table + 3 &* count)
    r3 = load(table + 4 &* count)
    i3 = load(table + 5 &* count)
  }
}

@_noLocks @_noAllocation @inline(__always)
private func quad(_ xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>, _ step: Int) -> Quad {
  Quad(
    load(xr), load(xi), load(xr + step), load(xi + step), load(xr + 2 &* step), load(xi + 2 &* step),
    load(xr + 3 &* step), load(xi + 3 &* step))
}

// The two passes whose outputs stand closer than a vector: butterflies side by side, and then a loop of its
// own that puts them in order. In one loop the compiler takes every vector of products apart.

/// Of `blocks` of `size` numbers each.
@_noLocks @_noAllocation
private func beside(
  _ size: Int, _ blocks: Int, _ table: UnsafePointer<Float>, _ xr: UnsafePointer<Float>,
  _ xi: UnsafePointer<Float>,
  _ yr: Floats, _ yi: Floats
) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    let turns = Turns(table + p, count: quarter)
    var at = p
    let end = blocks &* size
    while at < end {
      var q = quad(xr + at, xi + at, quarter)
      q.turn(turns)
      store(q.r0, yr + at)
      store(q.i0, yi + at)
      store(q.r1, yr + (quarter &+ at))
      store(q.i1, yi + (quarter &+ at))
      store(q.r2, yr + (2 &* quarter &+ at))
      store(q.i2, yi + (2 &* quarter &+ at))
      store(q.r3, yr + (3 &* quarter &+ at))
      store(q.i3, yi + (3 &* quarter &+ at))
      at &+= size
    }
    p &+= laneCount()
  }
}

/// The four quarters in turn, number by number; where each is made of `blocks`, these in turn, too.
@_noLocks @_noAllocation
private func weave(_ size: Int, _ blocks: Int, _ x: Floats, _ y: Floats) {
  let quarter = size / 4
  let step = 4 &* blocks
  var block = 0
  var from = 0
  while block < blocks {
    var to = y + 4 &* block
    let end = from &+ quarter / blocks
    while from < end {
      let ac = zip4(loadFour(x + from), loadFour(x + (2 &* quarter &+ from)))
      let bd = zip4(loadFour(x + (quarter &+ from)), loadFour(x + (3 &* quarter &+ from)))
      let low = zip4(ac.low, bd.low)
      let high = zip4(ac.high, bd.high)
      storeFour(low.low, to)
      storeFour(low.high, to + step)
      storeFour(high.low, to + 2 &* step)
      storeFour(high.high, to + 3 &* step)
      to += 4 &* step
      from &+= 4
    }
    block &+= 1
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

/// The last of them, its second half.
@_noLocks @_noAllocation
private func upperPass(
  _ size: Int, _ xr: Floats, _ xi: Floats, _ yr: Floats, _ yi: Floats
) {
  let quarter = size / 4
  var n = 0
  while n < quarter {
    let q = quad(xr + n, xi + n, quarter)
    store(q.r2, yr + (2 &* quarter &+ n))
    store(q.i2, yi + (2 &* quarter &+ n))
    store(q.r3, yr + (3 &* quarter &+ n))
    store(q.i3, yi + (3 &* quarter &+ n))
    n &+= laneCount()
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
