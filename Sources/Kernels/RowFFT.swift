import CRealtime

// One complex FFT with neighbouring points in the lanes of a vector: Stockham's self-sorting form, radix 4.
//
//   re  | p0 p1 p2 p3 | p4 p5 p6 p7 | …        [point], contiguous; re and im are separate rows
//   im  | p0 p1 p2 p3 | p4 p5 p6 p7 | …
//
//   pass      butterflies read                writes
//   first     p, p + N/4, p + N/2, p + 3N/4   4p … 4p + 3, transposed in fours
//   second    the same                        runs of 4 points, already in order; not with 4 lanes
//   others    the same                        runs of `stride` = 4, 16, 64 … points
//   last      p, p + N/4 … (radix 4)          where the caller wants them: see `RowTarget`
//             p, p + N/8 … (radix 8), p, p + N/2 (radix 2: 32 points with 8 lanes)
//
// Sixteen points with eight lanes: two transforms side by side.
//
// - Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), ch. 1.7.
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// Rows of real and imaginary parts, each of `size` points.
struct Rows {
  var re: Floats
  var im: Floats

  @_noLocks @_noAllocation @inline(__always)
  init(_ floats: Floats, _ c: UnsafeMutablePointer<pinna_convolver>) {
    re = floats
    im = floats + c.pointee.rowStride
  }
}

/// Where the last pass stores its results. It is inlined with the case known, so that no branch remains in its loop.
enum RowTarget {
  /// One microphone's bins: a vector of real and one of imaginary parts per unit; `unitStride` in vectors.
  case spectrum(Vectors, unitStride: Int)
  /// The second half of a window's frames. The transform had real and imaginary parts swapped on input; this removes the
  /// weights and keeps the imaginary part.
  case frames(Floats, cosines: UnsafePointer<Float>, sines: UnsafePointer<Float>)

  /// Stores the results of one vector of points, from `k` on.
  @_noLocks @_noAllocation @inline(__always)
  func storeResults(_ k: Int, _ re: Lanes, _ im: Lanes) {
    switch self {
    case .spectrum(let spectra, let unitStride):
      let x = spectra + k / laneCount() &* unitStride
      x[0] = re
      x[1] = im
    case .frames(let frames, let cosines, let sines):
      store(multiplySubtract(re * load(cosines + k), im, load(sines + k)), frames + k)
    }
  }
}

/// Forward FFT with e^(−jωn), unscaled. With the target `spectrum`, point n is multiplied by the weight e^(jπn/(2N))
/// first. Inverse FFT: swap real and imaginary parts on input and output; `frames` removes the weights.
/// - Parameters:
///   - fromRe, fromIm: `plan.size` points, which fill at least four vectors. May be the rows of `scratch`.
///   - rows, scratch: memory for as many points each; overwritten.
@_noLocks @_noAllocation @inline(__always)
func rowFFT(
  _ plan: pinna_row_fft, _ fromRe: UnsafePointer<Float>, _ fromIm: UnsafePointer<Float>, _ rows: Rows,
  _ scratch: Rows, _ target: RowTarget
) {
  #if REGISTERS_32
    if plan.size == 8 &* laneCount() { return rowFFTOfEightVectors(plan, fromRe, fromIm, target) }
    #if LANES_16
      if plan.size == 4 &* laneCount() { return rowFFTOfFourVectors(plan, fromRe, fromIm, target) }
    #endif
  #endif
  switch target {
  case .spectrum: weightedPass(plan.size, plan.weightedTwiddles, fromRe, fromIm, rows)
  case .frames: earlyPass(plan.size, plan.firstTwiddles, fromRe, fromIm, rows, isFirst: true)
  }
  laterPasses(plan, rows, scratch, target)
}

/// The passes after the first. Overwrites both `from` and `scratch`.
@_noLocks @_noAllocation @inline(__always)
private func laterPasses(_ plan: pinna_row_fft, _ from: Rows, _ scratch: Rows, _ target: RowTarget) {
  let size = plan.size
  var (x, y) = (from, scratch)
  var stride = 4
  var twiddles = plan.laterTwiddles!
  if laneCount() > 4 {
    earlyPass(size, plan.secondTwiddles, x.re, x.im, y, isFirst: false)
    swap(&x, &y)
    stride = 16
  }
  while 8 &* stride < size {
    sortedPass(size, stride, twiddles, x.re, x.im, y.re, y.im)
    twiddles += 6 &* (size / stride / 4)
    swap(&x, &y)
    stride &*= 4
  }
  if 8 &* stride == size {
    lastPassOfRadix8(size, x, target)
  } else if 4 &* stride == size {
    lastPass(size, x, target)
  } else {
    lastPassOfRadix2(size, x, target)
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

extension Radix4 {
  @_noLocks @_noAllocation @inline(__always)
  init(_ xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>, _ step: Int) {
    self.init(
      load(xr), load(xi), load(xr + step), load(xi + step), load(xr + 2 &* step), load(xi + 2 &* step),
      load(xr + 3 &* step), load(xi + 3 &* step))
  }

  /// The first butterfly of the analysis, with weights and twiddles from `table`.
  @_noLocks @_noAllocation @inline(__always)
  init(
    weighted xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>, _ table: UnsafePointer<Float>,
    _ quarter: Int
  ) {
    self.init(
      weighted: load(xr), load(xi), load(xr + quarter), load(xi + quarter), load(xr + 2 &* quarter),
      load(xi + 2 &* quarter), load(xr + 3 &* quarter), load(xi + 3 &* quarter))
    apply(
      Twiddles(table + 2 &* quarter, count: quarter), r0: load(table), i0: load(table + quarter))
  }

  /// The four values of each lane side by side: the order in which the first pass writes them.
  @_noLocks @_noAllocation @inline(__always)
  func ofLanes() -> Radix4 { Radix4(re: sideBySide(r0, r1, r2, r3), im: sideBySide(i0, i1, i2, i3)) }

  /// The four values of each group of four lanes side by side: the order in which the second pass writes them.
  @_noLocks @_noAllocation @inline(__always)
  func ofFours() -> Radix4 { Radix4(re: inFours(r0, r1, r2, r3), im: inFours(i0, i1, i2, i3)) }

  @_noLocks @_noAllocation @inline(__always)
  fileprivate func store(_ yr: Floats, _ yi: Floats) {
    let length = laneCount()
    pinna_store(r0, yr)
    pinna_store(r1, yr + length)
    pinna_store(r2, yr + 2 &* length)
    pinna_store(r3, yr + 3 &* length)
    pinna_store(i0, yi)
    pinna_store(i1, yi + length)
    pinna_store(i2, yi + 2 &* length)
    pinna_store(i3, yi + 3 &* length)
  }
}

/// The first pass of the analysis, with weights.
@_noLocks @_noAllocation
private func weightedPass(
  _ size: Int, _ table: UnsafePointer<Float>, _ xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>,
  _ y: Rows
) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    let q = Radix4(weighted: xr + p, xi + p, table + p, quarter)
    q.ofLanes().store(y.re + 4 &* p, y.im + 4 &* p)
    p &+= laneCount()
  }
}

/// The first pass of the synthesis, or any second pass, whose runs of four points are shorter than a vector.
@_noLocks @_noAllocation
private func earlyPass(
  _ size: Int, _ table: UnsafePointer<Float>, _ xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>,
  _ y: Rows, isFirst: Bool
) {
  let quarter = size / 4
  var p = 0
  while p < quarter {
    var q = Radix4(xr + p, xi + p, quarter)
    q.apply(Twiddles(table + p, count: quarter))
    if isFirst {
      q.ofLanes().store(y.re + 4 &* p, y.im + 4 &* p)
    } else {
      q.ofFours().store(y.re + 4 &* p, y.im + 4 &* p)
    }
    p &+= laneCount()
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
      var q = Radix4(xr + x, xi + x, quarter)
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

/// The last radix-4 pass, which has no twiddles.
@_noLocks @_noAllocation @inline(__always)
private func lastPass(_ size: Int, _ x: Rows, _ target: RowTarget) {
  let quarter = size / 4
  var n = 0
  while n < quarter {
    let q = Radix4(x.re + n, x.im + n, quarter)
    target.storeResults(n, q.r0, q.i0)
    target.storeResults(quarter &+ n, q.r1, q.i1)
    target.storeResults(2 &* quarter &+ n, q.r2, q.i2)
    target.storeResults(3 &* quarter &+ n, q.r3, q.i3)
    n &+= laneCount()
  }
}

/// A last pass of radix 8.
@_noLocks @_noAllocation @inline(__always)
private func lastPassOfRadix8(_ size: Int, _ x: Rows, _ target: RowTarget) {
  let step = size / 8
  var n = 0
  while n < step {
    let (a, b) = (x.re + n, x.im + n)
    let (c, d) = (a + 4 &* step, b + 4 &* step)
    let q = Radix8(
      load(a), load(b), load(a + step), load(b + step), load(a + 2 &* step), load(b + 2 &* step),
      load(a + 3 &* step), load(b + 3 &* step), load(c), load(d), load(c + step), load(d + step),
      load(c + 2 &* step), load(d + 2 &* step), load(c + 3 &* step), load(d + 3 &* step))
    target.storeResults(n, q.even.r0, q.even.i0)
    target.storeResults(step &+ n, q.odd.r0, q.odd.i0)
    target.storeResults(2 &* step &+ n, q.even.r1, q.even.i1)
    target.storeResults(3 &* step &+ n, q.odd.r1, q.odd.i1)
    target.storeResults(4 &* step &+ n, q.even.r2, q.even.i2)
    target.storeResults(5 &* step &+ n, q.odd.r2, q.odd.i2)
    target.storeResults(6 &* step &+ n, q.even.r3, q.even.i3)
    target.storeResults(7 &* step &+ n, q.odd.r3, q.odd.i3)
    n &+= laneCount()
  }
}

/// A last pass of radix 2, only for 32 points with eight lanes.
@_noLocks @_noAllocation @inline(__always)
private func lastPassOfRadix2(_ size: Int, _ x: Rows, _ target: RowTarget) {
  let half = size / 2
  var n = 0
  while n < half {
    let (ar, ai, br, bi) = (
      load(x.re + n), load(x.im + n), load(x.re + (half &+ n)), load(x.im + (half &+ n))
    )
    target.storeResults(n, ar + br, ai + bi)
    target.storeResults(half &+ n, ar - br, ai - bi)
    n &+= laneCount()
  }
}
