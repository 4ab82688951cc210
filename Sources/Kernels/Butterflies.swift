// The butterflies of all FFTs: one per lane, on vectors of real and imaginary parts.
//
// Thread: any; pure functions, and stores to memory that the caller owns.

/// Twiddle factors of one radix-4 butterfly: w^p, w^2p and w^3p, broadcast to all lanes.
struct Twiddles {
  var r1, i1, r2, i2, r3, i3: Lanes

  @_noLocks @_noAllocation @inline(__always)
  init(_ t: UnsafePointer<Float>) {
    r1 = Lanes(repeating: t[0])
    i1 = Lanes(repeating: t[1])
    r2 = Lanes(repeating: t[2])
    i2 = Lanes(repeating: t[3])
    r3 = Lanes(repeating: t[4])
    i3 = Lanes(repeating: t[5])
  }

  /// Twiddle factors of neighbouring butterflies, one per lane. Shape of the table: `[6][count]`.
  @_noLocks @_noAllocation @inline(__always)
  init(_ table: UnsafePointer<Float>, count: Int) {
    r1 = load(table)
    i1 = load(table + count)
    r2 = load(table + 2 &* count)
    i2 = load(table + 3 &* count)
    r3 = load(table + 4 &* count)
    i3 = load(table + 5 &* count)
  }
}

/// Radix-4 butterfly: the DFT of four complex values, in frequency order.
struct Radix4 {
  var r0, i0, r1, i1, r2, i2, r3, i3: Lanes

  /// Four complex values as they are.
  @_noLocks @_noAllocation @inline(__always)
  init(re: FourVectors, im: FourVectors) {
    (r0, r1, r2, r3) = re
    (i0, i1, i2, i3) = im
  }

  /// Transforms a, b, c, d forward.
  @_noLocks @_noAllocation @inline(__always)
  init(
    _ ar: Lanes, _ ai: Lanes, _ br: Lanes, _ bi: Lanes, _ cr: Lanes, _ ci: Lanes, _ dr: Lanes, _ di: Lanes
  ) {
    let (sr, si, tr, ti) = (ar + cr, ai + ci, ar - cr, ai - ci)
    let (ur, ui, vr, vi) = (br + dr, bi + di, br - dr, bi - di)
    r0 = sr + ur
    i0 = si + ui
    r2 = sr - ur
    i2 = si - ui
    r1 = tr + vi
    i1 = ti - vr
    r3 = tr - vi
    i3 = ti + vr
  }

  /// Transforms a, b·e^(jπ/8), c·e^(jπ/4), d·e^(j3π/8) forward. With c = cos(π/8) and
  /// t = tan(π/8), b·e^(jπ/8) is c·(1 + jt)·b, and d·e^(j3π/8) is c·(t + j)·d.
  @_noLocks @_noAllocation @inline(__always)
  init(
    weighted ar: Lanes, _ ai: Lanes, _ br: Lanes, _ bi: Lanes, _ cr: Lanes, _ ci: Lanes, _ dr: Lanes,
    _ di: Lanes
  ) {
    let (cosine, tangent) = (Lanes(repeating: 0.923_879_5), Lanes(repeating: 0.414_213_57))
    let half = Lanes(repeating: 0.707_106_77)
    let (er, ei) = (multiplySubtract(br, bi, tangent), multiplyAdd(bi, br, tangent))
    let (fr, fi) = (multiplyAdd(-di, dr, tangent), multiplyAdd(dr, di, tangent))
    let (gr, gi) = (cr - ci, ci + cr)
    let (sr, si) = (multiplyAdd(ar, gr, half), multiplyAdd(ai, gi, half))
    let (tr, ti) = (multiplySubtract(ar, gr, half), multiplySubtract(ai, gi, half))
    let (ur, ui, vr, vi) = (er + fr, ei + fi, er - fr, ei - fi)
    r0 = multiplyAdd(sr, ur, cosine)
    i0 = multiplyAdd(si, ui, cosine)
    r2 = multiplySubtract(sr, ur, cosine)
    i2 = multiplySubtract(si, ui, cosine)
    r1 = multiplyAdd(tr, vi, cosine)
    i1 = multiplySubtract(ti, vr, cosine)
    r3 = multiplySubtract(tr, vi, cosine)
    i3 = multiplyAdd(ti, vr, cosine)
  }

  /// Multiplies all four values by twiddle factors, the first by wr + j·wi.
  @_noLocks @_noAllocation @inline(__always)
  mutating func apply(_ t: Twiddles, r0 wr: Lanes, i0 wi: Lanes) {
    (r0, i0) = (multiplySubtract(r0 * wr, i0, wi), multiplyAdd(r0 * wi, i0, wr))
    apply(t)
  }

  /// Multiplies the second to the fourth value by twiddle factors.
  @_noLocks @_noAllocation @inline(__always)
  mutating func apply(_ t: Twiddles) {
    (r1, i1) = (multiplySubtract(r1 * t.r1, i1, t.i1), multiplyAdd(r1 * t.i1, i1, t.r1))
    (r2, i2) = (multiplySubtract(r2 * t.r2, i2, t.i2), multiplyAdd(r2 * t.i2, i2, t.r2))
    (r3, i3) = (multiplySubtract(r3 * t.r3, i3, t.i3), multiplyAdd(r3 * t.i3, i3, t.r3))
  }

  @_noLocks @_noAllocation @inline(__always)
  func write(_ z: Vectors, _ step: Int) {
    z[0] = r0
    z[1] = i0
    z[step] = r1
    z[step &+ 1] = i1
    z[2 &* step] = r2
    z[2 &* step &+ 1] = i2
    z[3 &* step] = r3
    z[3 &* step &+ 1] = i3
  }
}

/// Radix-8 butterfly: the DFT of eight complex values.
struct Radix8 {
  /// Frequencies 0, 2, 4, 6.
  var even: Radix4
  /// Frequencies 1, 3, 5, 7.
  var odd: Radix4

  /// Transforms a to h forward.
  @_noLocks @_noAllocation @inline(__always)
  init(
    _ ar: Lanes, _ ai: Lanes, _ br: Lanes, _ bi: Lanes, _ cr: Lanes, _ ci: Lanes, _ dr: Lanes, _ di: Lanes,
    _ er: Lanes, _ ei: Lanes, _ fr: Lanes, _ fi: Lanes, _ gr: Lanes, _ gi: Lanes, _ hr: Lanes, _ hi: Lanes
  ) {
    let half = Lanes(repeating: 0.707_106_77)
    even = Radix4(ar + er, ai + ei, br + fr, bi + fi, cr + gr, ci + gi, dr + hr, di + hi)
    let (sr, si, tr, ti, ur, ui) = (br - fr, bi - fi, cr - gr, ci - gi, dr - hr, di - hi)
    // Twiddles e^(−jπ/4), −j, e^(−j3π/4).
    odd = Radix4(
      ar - er, ai - ei, (sr + si) * half, (si - sr) * half, ti, -tr, (ui - ur) * half, -(ur + ui) * half)
  }
}
