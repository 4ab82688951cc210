import CRealtime

// Analysis: from the input history to one spectrum per microphone and period (overlap-save window, then FFT).
//
//   history   [microphone][frame]                a row of contiguous frames per microphone
//
//   lanes are microphones                        lanes are bins
//     window  [group][frame][lane]                 two rows as re and im of one complex FFT
//       frame 0  m0 m1 m2 m3 …                       re  x0[0] x0[1] x0[2] …
//       frame 1  m0 m1 m2 m3 …                       im  x1[0] x1[1] x1[2] …
//     LaneFFT, one microphone per lane             RowFFT, then separation by symmetry
//
//   spectra   [unit][slot][group][re, im][lane]  slot: ring of the last periods; unit: the bins of one vector
//   nyquist   [partition][nyquist vector][lane]  one real value per microphone
//
// All spectra are twice the transform; the filters' scale compensates for this (`FilterSet`).
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

/// Computes the spectra of the period that ended `age` frames before the newest, and stores them in the next slot. With
/// a negative `age`, only advances the window, by the period that ended `-1 - age` frames before the newest.
@_noLocks @_noAllocation
func analyse(_ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ age: Int)
{
  let start = history.pointee.written &- (age < 0 ? -1 &- age : age) &- c.pointee.period
  if c.pointee.lanesAreMicrophones != 0 { advanceWindow(c, history, start) }
  if age < 0 { return }
  // During a refill `start` may be negative. The offset, a multiple of sixteen periods, keeps the index positive and
  // the tail's phase unchanged.
  c.pointee.periodIndex = (start &+ 65536 &* c.pointee.period) / c.pointee.period
  let slot = c.pointee.newestSlot &+ 1 == c.pointee.slots ? 0 : c.pointee.newestSlot &+ 1
  c.pointee.newestSlot = slot
  let nyquistSlot =
    c.pointee.newestNyquistSlot &+ 1 == c.pointee.partitions ? 0 : c.pointee.newestNyquistSlot &+ 1
  c.pointee.newestNyquistSlot = nyquistSlot
  let nyquist = vectors(c.pointee.nyquist) + nyquistSlot &* c.pointee.nyquistVectors
  let unitStride = c.pointee.unitStride / laneCount()
  let spectra = vectors(c.pointee.spectra) + slot &* 2 &* c.pointee.groups
  if c.pointee.lanesAreMicrophones != 0 {
    let work = vectors(c.pointee.re)
    var group = 0
    while group < c.pointee.groups {
      let window = vectors(c.pointee.window) + group &* 2 &* c.pointee.bins
      firstPass(c.pointee.laneFFT, window, c.pointee.windowPosition, work)
      laterPasses(c.pointee.laneFFT, work)
      splitRealSpectra(c.pointee.laneFFT, work, spectra + 2 &* group, unitStride, nyquist + group)
      group &+= 1
    }
  } else {
    var microphone = 0
    while microphone < c.pointee.microphones {
      analysePair(c, history, start, microphone, spectra + 2 &* microphone, unitStride, nyquist)
      microphone &+= 2
    }
  }
  if c.pointee.tail.blocks > 0 { analyseTail(c) }
}

/// Copies one period, from frame `start` on, into the windows. This transposes rows of frames into lanes.
@_noLocks @_noAllocation
private func advanceWindow(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ start: Int
) {
  let (capacity, stride) = (history.pointee.capacity, history.pointee.stride)
  let size = 2 &* c.pointee.bins
  let mask = size &- 1
  let microphones = c.pointee.microphones
  var done = 0
  while done < c.pointee.period {
    let at = (start &+ done) & (capacity &- 1)
    let count = min(c.pointee.period &- done, capacity &- at)
    var m = 0
    while m < c.pointee.groups &* laneCount() {
      let rows = history.pointee.frames! + (m &* stride &+ at)
      let group: Int = m / laneCount()
      let lane: Int = m % laneCount()
      let window = c.pointee.window! + (group &* size &* laneCount() &+ lane)
      let zeros = c.pointee.zeros!
      transposeFour(
        m < microphones ? rows : zeros, m &+ 1 < microphones ? rows + stride : zeros,
        m &+ 2 < microphones ? rows + 2 &* stride : zeros,
        m &+ 3 < microphones ? rows + 3 &* stride : zeros, count, window, c.pointee.windowPosition &+ done,
        mask)
      m &+= 4
    }
    done &+= count
  }
  c.pointee.windowPosition = (c.pointee.windowPosition &+ c.pointee.period) & mask
}

/// Transposes `count` frames of four rows into four neighbouring lanes of `window`, from `position` on.
@_noLocks @_noAllocation @inline(__always)
private func transposeFour(
  _ a: Floats, _ b: Floats, _ c: Floats, _ d: Floats, _ count: Int, _ window: Floats, _ position: Int,
  _ mask: Int
) {
  var n = 0
  while n &+ 4 <= count {
    let (va, vb, vc, vd) = (loadFour(a + n), loadFour(b + n), loadFour(c + n), loadFour(d + n))
    let ac = interleave(va, vc)
    let bd = interleave(vb, vd)
    let low = interleave(ac.low, bd.low)
    let high = interleave(ac.high, bd.high)
    let to = position &+ n
    storeFour(low.low, window + (to & mask) &* laneCount())
    storeFour(low.high, window + ((to &+ 1) & mask) &* laneCount())
    storeFour(high.low, window + ((to &+ 2) & mask) &* laneCount())
    storeFour(high.high, window + ((to &+ 3) & mask) &* laneCount())
    n &+= 4
  }
  while n < count {
    let to = window + ((position &+ n) & mask) &* laneCount()
    to[0] = a[n]
    to[1] = b[n]
    to[2] = c[n]
    to[3] = d[n]
    n &+= 1
  }
}

/// Transforms two microphones as the real and imaginary parts of one complex FFT, and separates their spectra:
/// 2·X1[k] = Z[k] + Z*[N−k], 2j·X2[k] = Z[k] − Z*[N−k].
@_noLocks @_noAllocation
private func analysePair(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ start: Int,
  _ microphone: Int, _ spectra: Vectors, _ unitStride: Int, _ nyquist: Vectors
) {
  let size = 2 &* c.pointee.bins
  let (re, im) = (c.pointee.re!, c.pointee.im!)
  let paired = microphone &+ 1 < c.pointee.microphones
  let first = start &+ c.pointee.period &- size
  rowFFT(
    c.pointee.rowFFT, contiguousFrames(history, microphone, first, size, re),
    paired ? contiguousFrames(history, microphone &+ 1, first, size, im) : UnsafePointer(c.pointee.zeros), re,
    im,
    c.pointee.scratch, isUpper: false)
  re[size] = re[0]
  im[size] = im[0]
  // From the top down: a mirrored vector lies across two that were stored, and can only be loaded once both have
  // reached the cache. Those of the lowest bins were stored last.
  var k = c.pointee.bins &- laneCount()
  var x = spectra + (c.pointee.units &- 1) &* unitStride
  while k >= 0 {
    let mirrored = size &- k &- laneCount() &+ 1
    let (zr, zi) = (load(re + k), load(im + k))
    let (mr, mi) = (reversed(load(re + mirrored)), reversed(load(im + mirrored)))
    x[0] = zr + mr
    x[1] = zi - mi
    if paired {
      x[2] = zi + mi
      x[3] = mr - zr
    }
    x -= unitStride
    k &-= laneCount()
  }
  let nyquistBins = UnsafeMutableRawPointer(nyquist).assumingMemoryBound(to: Float.self)
  nyquistBins[microphone] = 2 * re[c.pointee.bins]
  if paired { nyquistBins[microphone &+ 1] = 2 * im[c.pointee.bins] }
}

/// Returns `count` contiguous frames of one microphone from frame `first` on. Where they wrap around the end of the
/// ring, they are copied into `memory`.
@_noLocks @_noAllocation @inline(__always)
private func contiguousFrames(
  _ history: UnsafePointer<pinna_history>, _ microphone: Int, _ first: Int, _ count: Int, _ memory: Floats
) -> UnsafePointer<Float> {
  let capacity = history.pointee.capacity
  let ring = history.pointee.frames + microphone &* history.pointee.stride
  let at = first & (capacity &- 1)
  let head = min(count, capacity &- at)
  if head == count { return UnsafePointer(ring + at) }
  copy(ring + at, memory, head)
  copy(ring, memory + head, count &- head)
  return UnsafePointer(memory)
}
