import CRealtime

// One complex FFT with neighbouring points in the lanes of a vector: Stockham's self-sorting form, radix 4.
//
//   re  | p0 p1 p2 p3 | p4 p5 p6 p7 | …        [point], contiguous; re and im are separate rows
//   im  | p0 p1 p2 p3 | p4 p5 p6 p7 | …
//
//   pass       butterflies read                writes
//   first 1–2  p, p + N/4, p + N/2, p + 3N/4   quarters, reordered afterwards: runs are shorter than a vector
//   others     the same                        runs of `stride` = 4, 16, 64 … points, already in order
//   radix 2    p, p + N/2                      last pass, only where N is an odd power of two
//
// - Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), ch. 1.7.
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// Forward FFT with e^(−jωn), unscaled. Inverse FFT: swap real and imaginary parts on input and output.
/// - Parameters:
///   - fromRe: real parts of `plan.size` points, which fill at least four vectors. May be the same memory as `re`.
///   - fromIm: imaginary parts. May be the same memory as `im`.
///   - scratch: twice `plan.size` floats.
///   - isUpper: whether only the second half of the output is needed; the first is then undefined.
@_noLocks @_noAllocation @inline(__always)
func rowFFT(
  _ plan: pinna_row_fft, _ fromRe: UnsafePointer<Float>, _ fromIm: UnsafePointer<Float>, _ re: Floats,
  _ im: Floats, _ scratch: Floats, isUpper: Bool
) {
  let size = plan.size
  var (xr, xi, yr, yi) = (re, im, scratch, scratch + size)
  let quarter = size / 4
  var stride = 4
  var twiddles = plan.laterTwiddles!
  unsortedPass(size, 1, plan.firstTwiddles, fromRe, fromIm, xr, xi)
  if size >= 16 &* laneCount() {
    // Two unsorted passes, then one reordering for both.
    unsortedPass(quarter, 4, plan.secondTwiddles, xr, xi, xr, xi)
    interleaveQuarters(size, 4, xr, yr)
    interleaveQuarters(size, 4, xi, yi)
    swap(&xr, &yr)
    swap(&xi, &yi)
    stride = 16
  } else {
    interleaveQuarters(size, 1, xr, yr)
    interleaveQuarters(size, 1, xi, yi)
    swap(&xr, &yr)
    swap(&xi, &yi)
    if laneCount() > 4 {
      unsortedPass(size, 1, plan.secondTwiddles, xr, xi, xr, xi)
      interleaveQuartersByFour(size, xr, yr)
      interleaveQuartersByFour(size, xi, yi)
      swap(&xr, &yr)
      swap(&xi, &yi)
      stride = 16
    }
  }
  while stride <= size / 4 {
    if isUpper, stride == size / 4 {
      sortedPassUpperHalf(size, xr, xi, yr, yi)
    } else {
      sortedPass(size, stride, twiddles, xr, xi, yr, yi)
    }
    twiddles += 6 &* (size / stride / 4)
    swap(&xr, &yr)
    swap(&xi, &yi)
    stride &*= 4
  }
  if stride < size {
    // Works in place, too.
    radix2Pass(size, xr, xi, re, im)
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

extension Twiddles {
  /// Twiddle factors of neighbouring butterflies, one per lane. Shape of the table: `[6][count]`.
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
private func radix4(_ xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>, _ step: Int) -> Radix4 {
  Radix4(
    load(xr), load(xi), load(xr + step), load(xi + step), load(xr + 2 &* step), load(xi + 2 &* step),
    load(xr + 3 &* step), load(xi + 3 &* step))
}

// In the first two passes the sorted runs are shorter than a vector. An unsorted pass computes neighbouring butterflies
// in the lanes, and a separate loop reorders its output. In a single loop the compiler splits every vector into
// scalars.

/// One radix-4 pass over `blocks` blocks of `size` points each, without Stockham's reordering. Works in place, too.
@_noLocks @_noAllocation
private func unsortedPass(
  _ size: Int, _ blocks: Int, _ table: UnsafePointer<Float>, _ xr: UnsafePointer<Float>,
  _ xi: UnsafePointer<Float>,
  _ yr: Floats, _ yi: Floats
) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    let twiddles = Twiddles(table + p, count: quarter)
    var at = p
    let end = blocks &* size
    while at < end {
      var q = radix4(xr + at, xi + at, quarter)
      q.apply(twiddles)
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

/// Reorders after unsorted passes: interleaves the four quarters point by point. With several `blocks` per quarter it
/// interleaves these as well, which reorders for two passes.
@_noLocks @_noAllocation
private func interleaveQuarters(_ size: Int, _ blocks: Int, _ x: Floats, _ y: Floats) {
  let quarter = size / 4
  let step = 4 &* blocks
  var block = 0
  var from = 0
  while block < blocks {
    var to = y + 4 &* block
    let end = from &+ quarter / blocks
    while from < end {
      let ac = interleave(loadFour(x + from), loadFour(x + (2 &* quarter &+ from)))
      let bd = interleave(loadFour(x + (quarter &+ from)), loadFour(x + (3 &* quarter &+ from)))
      let low = interleave(ac.low, bd.low)
      let high = interleave(ac.high, bd.high)
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

/// Reorders after the second unsorted pass: interleaves the four quarters in runs of four points.
@_noLocks @_noAllocation
private func interleaveQuartersByFour(_ size: Int, _ x: Floats, _ y: Floats) {
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

/// One radix-4 pass of Stockham's FFT with runs of `stride` points, a whole number of vectors.
@_noLocks @_noAllocation
private func sortedPass(
  _ size: Int, _ stride: Int, _ table: UnsafePointer<Float>, _ xr: Floats, _ xi: Floats, _ yr: Floats,
  _ yi: Floats
) {
  let quarter = size / 4
  let butterflies = quarter / stride
  var twiddles = table
  var p = 0
  while p < butterflies {
    let t = Twiddles(twiddles)
    var n = 0
    while n < stride {
      let x = p &* stride &+ n
      let y = 4 &* p &* stride &+ n
      var q = radix4(xr + x, xi + x, quarter)
      if p > 0 { q.apply(t) }
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
    twiddles += 6
    p &+= 1
  }
}

/// The last radix-4 pass, which has no twiddles; computes the second half of its output.
@_noLocks @_noAllocation
private func sortedPassUpperHalf(
  _ size: Int, _ xr: Floats, _ xi: Floats, _ yr: Floats, _ yi: Floats
) {
  let quarter = size / 4
  var n = 0
  while n < quarter {
    let q = radix4(xr + n, xi + n, quarter)
    store(q.r2, yr + (2 &* quarter &+ n))
    store(q.i2, yi + (2 &* quarter &+ n))
    store(q.r3, yr + (3 &* quarter &+ n))
    store(q.i3, yi + (3 &* quarter &+ n))
    n &+= laneCount()
  }
}

/// Last pass of radix 2: sums and differences.
@_noLocks @_noAllocation
private func radix2Pass(_ size: Int, _ xr: Floats, _ xi: Floats, _ yr: Floats, _ yi: Floats) {
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
