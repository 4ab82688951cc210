import CRealtime

// FFTs of sixteen points with eight lanes: two side by side, each in half of the lanes, in registers.
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

#if LANES_8
  /// Two forward FFTs of sixteen weighted points each, side by side.
  @_noLocks @_noAllocation @inline(__always)
  func weightedFFTsOf16(
    _ plan: pinna_row_fft, _ fromRe: UnsafePointer<Float>, _ fromIm: UnsafePointer<Float>,
    _ otherRe: UnsafePointer<Float>, _ otherIm: UnsafePointer<Float>, _ target: Vectors, _ other: Vectors?,
    _ unitStride: Int
  ) {
    var q = Radix4(
      weighted: pair(fromRe, otherRe), pair(fromIm, otherIm), pair(fromRe + 4, otherRe + 4),
      pair(fromIm + 4, otherIm + 4), pair(fromRe + 8, otherRe + 8), pair(fromIm + 8, otherIm + 8),
      pair(fromRe + 12, otherRe + 12), pair(fromIm + 12, otherIm + 12))
    let table = plan.weightedTwiddles!
    q.apply(Twiddles(table + 16, count: 8), r0: load(table), i0: load(table + 8))
    let x = q.lastPassOf16()
    let (a, b) = (halves(x.r0), halves(x.r1))
    let (c, d) = (halves(x.r2), halves(x.r3))
    let (e, f) = (halves(x.i0), halves(x.i1))
    let (g, h) = (halves(x.i2), halves(x.i3))
    storePair(a.0, b.0, target)
    storePair(e.0, f.0, target + 1)
    storePair(c.0, d.0, target + unitStride)
    storePair(g.0, h.0, target + (unitStride &+ 1))
    guard let other else { return }
    storePair(a.1, b.1, other)
    storePair(e.1, f.1, other + 1)
    storePair(c.1, d.1, other + unitStride)
    storePair(g.1, h.1, other + (unitStride &+ 1))
  }

  /// Two FFTs of sixteen points each, side by side, with real and imaginary parts swapped on input; stores both as
  /// `RowTarget.frames` does.
  @_noLocks @_noAllocation @inline(__always)
  func fftsOf16(
    _ plan: pinna_row_fft, _ fromRe: UnsafePointer<Float>, _ fromIm: UnsafePointer<Float>,
    _ otherRe: UnsafePointer<Float>, _ otherIm: UnsafePointer<Float>, _ to: Floats, _ other: Floats
  ) {
    var q = Radix4(
      pair(fromRe, otherRe), pair(fromIm, otherIm), pair(fromRe + 4, otherRe + 4),
      pair(fromIm + 4, otherIm + 4), pair(fromRe + 8, otherRe + 8), pair(fromIm + 8, otherIm + 8),
      pair(fromRe + 12, otherRe + 12), pair(fromIm + 12, otherIm + 12))
    q.apply(Twiddles(plan.firstTwiddles, count: 8))
    let x = q.lastPassOf16()
    storeFrames(plan, 0, x.r0, x.i0, to, other)
    storeFrames(plan, 4, x.r1, x.i1, to, other)
    storeFrames(plan, 8, x.r2, x.i2, to, other)
    storeFrames(plan, 12, x.r3, x.i3, to, other)
  }

  extension Radix4 {
    /// The second of two radix-4 passes over sixteen points: result m holds points 4m … 4m + 3.
    @_noLocks @_noAllocation @inline(__always)
    fileprivate func lastPassOf16() -> Radix4 {
      let (re, im) = (transposed(r0, r1, r2, r3), transposed(i0, i1, i2, i3))
      return Radix4(re.0, im.0, re.1, im.1, re.2, im.2, re.3, im.3)
    }
  }

  /// Stores frames `n ..< n + 4` of both transforms, whose real and imaginary parts are swapped.
  @_noLocks @_noAllocation @inline(__always)
  private func storeFrames(
    _ plan: pinna_row_fft, _ n: Int, _ im: Lanes, _ re: Lanes, _ to: Floats, _ other: Floats
  ) {
    let cosines = plan.weights + n
    let sines = cosines + 16
    let y = halves(multiplySubtract(im * pair(cosines, cosines), re, pair(sines, sines)))
    storeFour(y.0, to + n)
    storeFour(y.1, other + n)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func pair(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>) -> Lanes {
    Lanes(lowHalf: loadFour(a), highHalf: loadFour(b))
  }

  @_noLocks @_noAllocation @inline(__always)
  private func halves(_ v: Lanes) -> (Float4, Float4) { unsafeBitCast(v, to: (Float4, Float4).self) }

  @_noLocks @_noAllocation @inline(__always)
  private func storePair(_ a: Float4, _ b: Float4, _ to: Vectors) { to[0] = Lanes(lowHalf: a, highHalf: b) }
  @_noLocks @_noAllocation @inline(__always)
  private func loadFour(_ floats: UnsafePointer<Float>) -> Float4 {
    UnsafeRawPointer(floats).loadUnaligned(as: Float4.self)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func storeFour(_ value: Float4, _ floats: Floats) {
    UnsafeMutableRawPointer(floats).storeBytes(of: value, as: Float4.self)
  }
#endif
