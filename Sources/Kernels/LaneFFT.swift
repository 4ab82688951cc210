import CRealtime

// Real transforms of many microphones at once, each in a lane of its own: no shuffles.
//
// 2N frames are read as N complex points (even frames real, odd ones imaginary), transformed by decimation in
// frequency in place, and taken apart into the bins of the real signal. What comes out is twice the transform.
// - Source: Sorensen et al., Real-valued fast Fourier transform algorithms, IEEE TASSP 35 (1987).

/// Twiddles of one butterfly, broadcast.
struct Turns {
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

/// Sum and difference network of four complex values: a0 + a2 …, before twiddles.
struct Quad {
  var r0, i0, r1, i1, r2, i2, r3, i3: Lanes

  /// The four outputs of a forward transform of four points.
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
  mutating func turn(_ t: Turns) {
    (r1, i1) = (minus(r1 * t.r1, i1, t.i1), plus(r1 * t.i1, i1, t.r1))
    (r2, i2) = (minus(r2 * t.r2, i2, t.i2), plus(r2 * t.i2, i2, t.r2))
    (r3, i3) = (minus(r3 * t.r3, i3, t.i3), plus(r3 * t.i3, i3, t.r3))
  }

  @_noLocks @_noAllocation @inline(__always)
  func put(_ z: Vectors, _ step: Int) {
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

/// From the window, whose oldest frame stands at `place`, into `work`: the first pass.
@_noLocks @_noAllocation
func firstPass(_ plan: pinna_lane_transform, _ window: Vectors, _ place: Int, _ work: Vectors) {
  let n = plan.size
  let quarter = n / 4
  let mask = 2 &* n &- 1
  var turns = plan.turns!
  var p = 0
  while p < quarter {
    let at = place &+ 2 &* p
    let (a, b) = (at & mask, (at &+ 1) & mask)
    let (c, d) = ((at &+ 2 &* quarter) & mask, (at &+ 2 &* quarter &+ 1) & mask)
    let (e, f) = ((at &+ 4 &* quarter) & mask, (at &+ 4 &* quarter &+ 1) & mask)
    let (g, h) = ((at &+ 6 &* quarter) & mask, (at &+ 6 &* quarter &+ 1) & mask)
    var quad = Quad(
      window[a], window[b], window[c], window[d], window[e], window[f], window[g], window[h])
    quad.turn(Turns(turns))
    quad.put(work + 2 &* p, 2 &* quarter)
    turns += 6
    p &+= 1
  }
}

@_noLocks @_noAllocation
func middlePasses(_ plan: pinna_lane_transform, _ work: Vectors) {
  let n = plan.size
  var length = n / 4
  var turns = plan.turns + 6 &* (n / 4)
  while length > 8 {
    let quarter = length / 4
    var p = 0
    while p < quarter {
      let t = Turns(turns)
      var z = work + 2 &* p
      let end = work + 2 &* n
      while z < end {
        var quad = Quad(
          z[0], z[1], z[2 &* quarter], z[2 &* quarter &+ 1], z[4 &* quarter], z[4 &* quarter &+ 1],
          z[6 &* quarter], z[6 &* quarter &+ 1])
        quad.turn(t)
        quad.put(z, 2 &* quarter)
        z += 2 &* length
      }
      turns += 6
      p &+= 1
    }
    length = quarter
  }
  var z = work
  let end = work + 2 &* n
  if length == 4 {
    while z < end {
      let quad = Quad(z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7])
      quad.put(z, 2)
      z += 8
    }
  } else {
    while z < end {
      eight(z)
      z += 16
    }
  }
}

/// The last pass where eight points are left: output k of block stands at 4 (k mod 2) + k / 2.
@_noLocks @_noAllocation @inline(__always)
private func eight(_ z: Vectors) {
  let half = Lanes(repeating: 0.707_106_77)
  let even = Quad(
    z[0] + z[8], z[1] + z[9], z[2] + z[10], z[3] + z[11], z[4] + z[12], z[5] + z[13], z[6] + z[14],
    z[7] + z[15])
  let (br, bi) = (z[2] - z[10], z[3] - z[11])
  let (cr, ci) = (z[4] - z[12], z[5] - z[13])
  let (dr, di) = (z[6] - z[14], z[7] - z[15])
  // e^(−jπ/4), −j, e^(−j3π/4)
  let odd = Quad(
    z[0] - z[8], z[1] - z[9], (br + bi) * half, (bi - br) * half, ci, -cr, (di - dr) * half,
    -(dr + di) * half)
  even.put(z, 2)
  odd.put(z + 8, 2)
}

/// Bins of the real signals, twice their value, into `spectra` (from one unit to the next `unit` vectors), the
/// Nyquist bin into `nyquist`.
@_noLocks @_noAllocation
func split(_ plan: pinna_lane_transform, _ work: Vectors, _ spectra: Vectors, _ unit: Int, _ nyquist: Vectors)
{
  let n = plan.size
  let places = plan.places!
  let (zr, zi) = (work[0], work[1])
  spectra[0] = zr + zr + zi + zi
  spectra[1] = Lanes.zero
  nyquist[0] = zr + zr - zi - zi
  var k = 1
  while k <= n / 2 {
    let z = work + places[k]
    let m = work + places[n &- k]
    let (zr, zi, mr, mi) = (z[0], z[1], m[0], m[1])
    let (ar, ai, br, bi) = (zr + mr, zi - mi, zr - mr, zi + mi)
    let c = Lanes(repeating: plan.splits[2 &* k])
    let s = Lanes(repeating: plan.splits[2 &* k &+ 1])
    let t = minus(c * bi, s, br)
    let u = plus(c * br, s, bi)
    let x = spectra + k &* unit
    let y = spectra + (n &- k) &* unit
    x[0] = ar + t
    x[1] = ai - u
    y[0] = ar - t
    y[1] = -(ai + u)
    k &+= 1
  }
}
