import CRealtime

// Real FFT of several microphones at once, one per lane. No data moves between lanes.
//
//   window   frame 0 │ frame 1 │ frame 2 │ frame 3 │ …    2N vectors; each holds one frame of every microphone
//              re0   │   im0   │   re1   │   im1   │      read as N complex points
//   work     [point][re, im][lane]                        N-point complex FFT, radix 4, decimation in frequency,
//                                                         in place; points end up in digit-reversed order
//   spectra  bin k at k · unitStride: [re, im][lane]      N bins, split from Z[k] and Z*[N−k]
//   nyquist  [lane]                                       bin N, real
//
// The result is twice the transform.
// - Source: Sorensen et al., Real-valued fast Fourier transform algorithms, IEEE TASSP 35 (1987).
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

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
}

/// Radix-4 butterfly: the DFT of four complex values, in frequency order.
struct Radix4 {
  var r0, i0, r1, i1, r2, i2, r3, i3: Lanes

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

/// First radix-4 pass, from the window into `work`.
/// - Parameter position: index of the oldest frame in `window`, which is a ring.
@_noLocks @_noAllocation
func firstPass(_ plan: pinna_lane_fft, _ window: Vectors, _ position: Int, _ work: Vectors) {
  let n = plan.size
  let quarter = n / 4
  let mask = 2 &* n &- 1
  var twiddles = plan.twiddles!
  var p = 0
  while p < quarter {
    let at = position &+ 2 &* p
    let (a, b) = (at & mask, (at &+ 1) & mask)
    let (c, d) = ((at &+ 2 &* quarter) & mask, (at &+ 2 &* quarter &+ 1) & mask)
    let (e, f) = ((at &+ 4 &* quarter) & mask, (at &+ 4 &* quarter &+ 1) & mask)
    let (g, h) = ((at &+ 6 &* quarter) & mask, (at &+ 6 &* quarter &+ 1) & mask)
    var butterfly = Radix4(
      window[a], window[b], window[c], window[d], window[e], window[f], window[g], window[h])
    butterfly.apply(Twiddles(twiddles))
    butterfly.write(work + 2 &* p, 2 &* quarter)
    twiddles += 6
    p &+= 1
  }
}

/// The other radix-4 passes, in place, and a last pass of radix 4 or 8.
@_noLocks @_noAllocation
func laterPasses(_ plan: pinna_lane_fft, _ work: Vectors) {
  let n = plan.size
  var length = n / 4
  var twiddles = plan.twiddles + 6 &* (n / 4)
  while length > 8 {
    let quarter = length / 4
    var p = 0
    while p < quarter {
      let t = Twiddles(twiddles)
      var z = work + 2 &* p
      let end = work + 2 &* n
      while z < end {
        var butterfly = Radix4(
          z[0], z[1], z[2 &* quarter], z[2 &* quarter &+ 1], z[4 &* quarter], z[4 &* quarter &+ 1],
          z[6 &* quarter], z[6 &* quarter &+ 1])
        butterfly.apply(t)
        butterfly.write(z, 2 &* quarter)
        z += 2 &* length
      }
      twiddles += 6
      p &+= 1
    }
    length = quarter
  }
  var z = work
  let end = work + 2 &* n
  if length == 4 {
    while z < end {
      let butterfly = Radix4(z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7])
      butterfly.write(z, 2)
      z += 8
    }
  } else {
    while z < end {
      radix8(z, z, 2)
      z += 16
    }
  }
}

/// Forward FFT of eight points. Frequency k goes to point 4 (k mod 2) + k / 2 of `to`, which may be `z`.
/// - Parameter step: vectors from one point of `to` to the next.
@_noLocks @_noAllocation @inline(__always)
func radix8(_ z: Vectors, _ to: Vectors, _ step: Int) {
  let half = Lanes(repeating: 0.707_106_77)
  let even = Radix4(
    z[0] + z[8], z[1] + z[9], z[2] + z[10], z[3] + z[11], z[4] + z[12], z[5] + z[13], z[6] + z[14],
    z[7] + z[15])
  let (br, bi) = (z[2] - z[10], z[3] - z[11])
  let (cr, ci) = (z[4] - z[12], z[5] - z[13])
  let (dr, di) = (z[6] - z[14], z[7] - z[15])
  // Twiddles e^(−jπ/4), −j, e^(−j3π/4).
  let odd = Radix4(
    z[0] - z[8], z[1] - z[9], (br + bi) * half, (bi - br) * half, ci, -cr, (di - dr) * half,
    -(dr + di) * half)
  even.write(to, step)
  odd.write(to + 4 &* step, step)
}

/// Splits the complex FFT into the spectra of the real signals, at twice their value.
/// - Parameters:
///   - unitStride: vectors from one bin of `spectra` to the next.
///   - nyquist: receives the Nyquist bin.
@_noLocks @_noAllocation
func splitRealSpectra(
  _ plan: pinna_lane_fft, _ work: Vectors, _ spectra: Vectors, _ unitStride: Int, _ nyquist: Vectors
) {
  let n = plan.size
  let binOffsets = plan.binOffsets!
  let (zr, zi) = (work[0], work[1])
  spectra[0] = zr + zr + zi + zi
  spectra[1] = Lanes.zero
  nyquist[0] = zr + zr - zi - zi
  var k = 1
  while k <= n / 2 {
    let z = work + binOffsets[k]
    let m = work + binOffsets[n &- k]
    let (zr, zi, mr, mi) = (z[0], z[1], m[0], m[1])
    let (ar, ai, br, bi) = (zr + mr, zi - mi, zr - mr, zi + mi)
    let c = Lanes(repeating: plan.splitTwiddles[2 &* k])
    let s = Lanes(repeating: plan.splitTwiddles[2 &* k &+ 1])
    let t = multiplySubtract(c * bi, s, br)
    let u = multiplyAdd(c * br, s, bi)
    let x = spectra + k &* unitStride
    let y = spectra + (n &- k) &* unitStride
    x[0] = ar + t
    x[1] = ai - u
    y[0] = ar - t
    y[1] = -(ai + u)
    k &+= 1
  }
}
