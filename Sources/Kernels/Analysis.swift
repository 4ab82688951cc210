import CRealtime

/// Spectra of the period that ends `age` frames before the newest, into the next slot. A negative `age` only moves
/// the window on, by the period that ends -1 - age frames before the newest.
@_noLocks @_noAllocation
func analyse(_ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ age: Int)
{
  let start = history.pointee.written &- (age < 0 ? -1 &- age : age) &- c.pointee.period
  if c.pointee.across != 0 { moveWindow(c, history, start) }
  if age < 0 { return }
  // Refilled, the first periods may lie before the stream.
  c.pointee.clock = (start &+ 65536 &* c.pointee.period) / c.pointee.period
  let slot = c.pointee.newest &+ 1 == c.pointee.slots ? 0 : c.pointee.newest &+ 1
  c.pointee.newest = slot
  let edge = c.pointee.newestEdge &+ 1 == c.pointee.partitions ? 0 : c.pointee.newestEdge &+ 1
  c.pointee.newestEdge = edge
  let nyquist = vectors(c.pointee.nyquist) + edge &* c.pointee.edges
  let unit = c.pointee.unit / laneCount()
  let spectra = vectors(c.pointee.spectra) + slot &* 2 &* c.pointee.groups
  if c.pointee.across != 0 {
    let work = vectors(c.pointee.re)
    var group = 0
    while group < c.pointee.groups {
      let window = vectors(c.pointee.window) + group &* 2 &* c.pointee.half
      firstPass(c.pointee.lanes, window, c.pointee.place, work)
      middlePasses(c.pointee.lanes, work)
      split(c.pointee.lanes, work, spectra + 2 &* group, unit, nyquist + group)
      group &+= 1
    }
  } else {
    var microphone = 0
    while microphone < c.pointee.microphones {
      analysePair(c, history, start, microphone, spectra + 2 &* microphone, unit, nyquist)
      microphone &+= 2
    }
  }
  if c.pointee.tail.blocks > 0 { analyseTail(c) }
}

/// One period from `start` on into the windows: rows become lanes.
@_noLocks @_noAllocation
private func moveWindow(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ start: Int
) {
  let (capacity, stride) = (history.pointee.capacity, history.pointee.stride)
  let size = 2 &* c.pointee.half
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
      let silence = c.pointee.silence!
      lanes(
        m < microphones ? rows : silence, m &+ 1 < microphones ? rows + stride : silence,
        m &+ 2 < microphones ? rows + 2 &* stride : silence,
        m &+ 3 < microphones ? rows + 3 &* stride : silence, count, window, c.pointee.place &+ done, mask)
      m &+= 4
    }
    done &+= count
  }
  c.pointee.place = (c.pointee.place &+ c.pointee.period) & mask
}

/// Four rows into four neighbouring lanes.
@_noLocks @_noAllocation @inline(__always)
private func lanes(
  _ a: Floats, _ b: Floats, _ c: Floats, _ d: Floats, _ count: Int, _ window: Floats, _ place: Int,
  _ mask: Int
) {
  var n = 0
  while n &+ 4 <= count {
    let (va, vb, vc, vd) = (loadFour(a + n), loadFour(b + n), loadFour(c + n), loadFour(d + n))
    let ac = zip4(va, vc)
    let bd = zip4(vb, vd)
    let low = zip4(ac.low, bd.low)
    let high = zip4(ac.high, bd.high)
    let to = place &+ n
    storeFour(low.low, window + (to & mask) &* laneCount())
    storeFour(low.high, window + ((to &+ 1) & mask) &* laneCount())
    storeFour(high.low, window + ((to &+ 2) & mask) &* laneCount())
    storeFour(high.high, window + ((to &+ 3) & mask) &* laneCount())
    n &+= 4
  }
  while n < count {
    let to = window + ((place &+ n) & mask) &* laneCount()
    to[0] = a[n]
    to[1] = b[n]
    to[2] = c[n]
    to[3] = d[n]
    n &+= 1
  }
}

/// Two microphones as real and imaginary part of one transform.
@_noLocks @_noAllocation
private func analysePair(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, _ start: Int,
  _ microphone: Int, _ spectra: Vectors, _ unit: Int, _ nyquist: Vectors
) {
  let size = 2 &* c.pointee.half
  let (re, im) = (c.pointee.re!, c.pointee.im!)
  let paired = microphone &+ 1 < c.pointee.microphones
  let first = start &+ c.pointee.period &- size
  transformRow(
    c.pointee.rows, row(history, microphone, first, size, re),
    paired ? row(history, microphone &+ 1, first, size, im) : UnsafePointer(c.pointee.silence), re, im,
    c.pointee.scratch, isUpper: false)
  re[size] = re[0]
  im[size] = im[0]
  var k = 0
  var x = spectra
  while k < c.pointee.half {
    let mirrored = size &- k &- laneCount() &+ 1
    let (zr, zi) = (load(re + k), load(im + k))
    let (mr, mi) = (reversed(load(re + mirrored)), reversed(load(im + mirrored)))
    x[0] = zr + mr
    x[1] = zi - mi
    if paired {
      x[2] = zi + mi
      x[3] = mr - zr
    }
    x += unit
    k &+= laneCount()
  }
  let edge = UnsafeMutableRawPointer(nyquist).assumingMemoryBound(to: Float.self)
  edge[microphone] = 2 * re[c.pointee.half]
  if paired { edge[microphone &+ 1] = 2 * im[c.pointee.half] }
}

/// `count` frames of one microphone from frame `first` on; put together in `memory` where they stand apart.
@_noLocks @_noAllocation @inline(__always)
private func row(
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
