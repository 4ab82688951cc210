import CRealtime

// Complex FFT of several microphones at once, one per lane. No data moves between lanes.
//
//   window   [frame][lane]            2N frames; x[n] + j·x[n+N] is read as point n of N
//   work     [point][re, im][lane]    radix 4, decimation in frequency, in place
//   spectra  bin k at k · unitStride: [re, im][lane]
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// First radix-4 pass, from the window into `work`.
/// - Parameter position: index of the oldest frame in `window`, which is a ring.
@_noLocks @_noAllocation
func firstPass(_ plan: pinna_lane_fft, _ window: Vectors, _ position: Int, _ work: Vectors) {
  let n = plan.size
  let quarter = n / 4
  let mask = 2 &* n &- 1
  var twiddles = plan.weightedTwiddles!
  var p = 0
  while p < quarter {
    let (a, b) = (position &+ p, position &+ p &+ quarter)
    let (c, d) = (position &+ p &+ 2 &* quarter, position &+ p &+ 3 &* quarter)
    var butterfly = Radix4(
      weighted: window[a & mask], window[(a &+ n) & mask], window[b & mask], window[(b &+ n) & mask],
      window[c & mask], window[(c &+ n) & mask], window[d & mask], window[(d &+ n) & mask])
    butterfly.apply(
      Twiddles(twiddles + 2), r0: Lanes(repeating: twiddles[0]), i0: Lanes(repeating: twiddles[1]))
    butterfly.write(work + 2 &* p, 2 &* quarter)
    twiddles += 8
    p &+= 1
  }
}

/// The other radix-4 passes, in place, and a last pass of radix 4 or 8, which stores the spectra.
/// - Parameter unitStride: vectors from one bin of `spectra` to the next.
@_noLocks @_noAllocation
func laterPasses(_ plan: pinna_lane_fft, _ work: Vectors, _ spectra: Vectors, _ unitStride: Int) {
  let n = plan.size
  var length = n / 4
  var twiddles = plan.twiddles!
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
  // In the order of bins, so that the spectra are written in few ascending streams.
  let count = n / length
  let step = count &* unitStride
  var to = spectra
  var k = 0
  while k < count {
    let z = work + plan.lastPassOffsets[k]
    if length == 4 {
      Radix4(z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7]).write(to, step)
    } else {
      radix8(z, even: to, odd: to + step, 2 &* step)
    }
    to += unitStride
    k &+= 1
  }
}

/// Forward FFT of eight points. Writes frequencies 0, 2, 4, 6 to `even` and 1, 3, 5, 7 to `odd`.
/// - Parameter step: vectors from one frequency of `even` (or `odd`) to the next.
@_noLocks @_noAllocation @inline(__always)
func radix8(_ z: Vectors, even: Vectors, odd: Vectors, _ step: Int) {
  let butterfly = Radix8(
    z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11], z[12], z[13], z[14], z[15])
  butterfly.even.write(even, step)
  butterfly.odd.write(odd, step)
}
