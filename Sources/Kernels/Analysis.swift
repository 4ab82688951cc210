import CRealtime

// Analysis: from the input history to one spectrum per microphone and period: overlap-save window, weights, FFT.
//
// A window has 2N frames x[n]. Its halves are the real and imaginary parts of N points, y[n] = x[n] + j·x[n+N]. As
// coefficients of polynomials, such points multiply modulo z^N = j. This gives the overlap-save result: a factor z^N
// moves frames to the other half, and what wraps around returns with the opposite sign, to frames that overlap-save
// discards. The FFT of y[n]·e^(jπn/(2N)) evaluates the polynomial at the roots of z^N = j. Bin k is the window's
// spectrum at (k − 1/4)/N cycles per frame. N bins describe 2N real frames: no bin mirrors another, and none is real.
//
//   history   [microphone][frame]                a row of contiguous frames per microphone
//
//   lanes are microphones                        lanes are bins
//     window  [group][frame][lane]                 the halves of a row as re and im
//       frame 0  m0 m1 m2 m3 …                       re  x[0] x[1] x[2] …
//       frame 1  m0 m1 m2 m3 …                       im  x[N] x[N+1] x[N+2] …
//     LaneFFT, one microphone per lane             RowFFT, one microphone at a time
//
//   spectra   [unit][slot][group][re, im][lane]  slot: ring of the last periods; unit: the bins of one vector
//
// - Source: Crandall and Fagin, Discrete weighted transforms and large-integer arithmetic, Math. Comp. 62 (1994).
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
  let unitStride = c.pointee.unitStride / laneCount()
  let spectra = vectors(c.pointee.spectra) + slot &* 2 &* c.pointee.groups
  if c.pointee.lanesAreMicrophones != 0 {
    let work = vectors(c.pointee.work)
    var group = 0
    while group < c.pointee.groups {
      let window = vectors(c.pointee.window) + group &* 2 &* c.pointee.bins
      firstPass(c.pointee.laneFFT, window, c.pointee.windowPosition, work)
      laterPasses(c.pointee.laneFFT, work, spectra + 2 &* group, unitStride)
      group &+= 1
    }
  } else {
    analyseRows(c, history, start &+ c.pointee.period &- 2 &* c.pointee.bins, spectra, unitStride)
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
    var group = 0
    while group < c.pointee.groups {
      let first = group &* laneCount()
      let rows = history.pointee.frames! + (first &* stride &+ at)
      let window = c.pointee.window! + group &* size &* laneCount()
      let position = c.pointee.windowPosition &+ done
      // A constant number of microphones, so that the compiler drops the tests for missing ones.
      if first &+ laneCount() <= microphones {
        transpose(rows, stride, laneCount(), count, window, position, mask)
      } else {
        transpose(rows, stride, microphones &- first, count, window, position, mask)
      }
      group &+= 1
    }
    done &+= count
  }
  c.pointee.windowPosition = (c.pointee.windowPosition &+ c.pointee.period) & mask
}

/// Transposes `frames` frames of `microphones` rows into the lanes of `window`, from `position` on. Other lanes become 0.
@_noLocks @_noAllocation @inline(__always)
private func transpose(
  _ rows: Floats, _ stride: Int, _ microphones: Int, _ frames: Int, _ window: Floats,
  _ position: Int, _ mask: Int
) {
  var n = 0
  while n &+ 4 <= frames {
    let to = position &+ n
    pinna_transpose_rows(
      rows + n, stride, microphones, window + (to & mask) &* laneCount(),
      window + ((to &+ 1) & mask) &* laneCount(), window + ((to &+ 2) & mask) &* laneCount(),
      window + ((to &+ 3) & mask) &* laneCount())
    n &+= 4
  }
  while n < frames {
    let to = window + ((position &+ n) & mask) &* laneCount()
    var lane = 0
    while lane < laneCount() {
      to[lane] = lane < microphones ? rows[lane &* stride &+ n] : 0
      lane &+= 1
    }
    n &+= 1
  }
}

/// Transforms the rows of all microphones, from frame `first` on.
@_noLocks @_noAllocation @inline(__always)
private func analyseRows(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ first: Int,
  _ spectra: Vectors, _ unitStride: Int
) {
  let size = c.pointee.bins
  let (rows, scratch) = (Rows(c.pointee.work, c), Rows(c.pointee.scratch, c))
  var microphone = 0
  #if LANES_8
    if size == 16 {
      while microphone < c.pointee.microphones {
        let other = microphone &+ 1 < c.pointee.microphones
        let m = other ? microphone &+ 1 : microphone
        weightedFFTsOf16(
          c.pointee.rowFFT, contiguousFrames(history, microphone, first, size, rows.re),
          contiguousFrames(history, microphone, first &+ size, size, rows.im),
          contiguousFrames(history, m, first, size, scratch.re),
          contiguousFrames(history, m, first &+ size, size, scratch.im), spectra + 2 &* microphone,
          other ? spectra + 2 &* m : nil, unitStride)
        microphone &+= 2
      }
      return
    }
  #endif
  while microphone < c.pointee.microphones {
    rowFFT(
      c.pointee.rowFFT, contiguousFrames(history, microphone, first, size, scratch.re),
      contiguousFrames(history, microphone, first &+ size, size, scratch.im), rows, scratch,
      .spectrum(spectra + 2 &* microphone, unitStride: unitStride))
    microphone &+= 1
  }
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
