import CRealtime

// The old partitions of long filters.
//
// Of one bin, the spectra of period after period are a signal of their own, and the partitions a filter over it. Its old
// part is convolved eight periods at a time: overlap-save again, with transforms of 16 periods, over blocks of eight
// partitions. Each period an eighth of the units has its turn, so that every period has the same work; where a block
// begins hangs on the stream's clock alone, so the same samples come out whenever the engine joined the stream.
// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995), with transforms over partitions
//   in place of longer ones over time.

/// The first of the eighth of the units whose turn it is in the newest period.
@_noLocks @_noAllocation @inline(__always)
private func turn(_ c: UnsafeMutablePointer<pinna_convolver>) -> Int {
  (c.pointee.clock & 7) &<< c.pointee.tail.shift
}

extension Walk {
  /// Over the blocks of a unit's tail as of its last turn; its units are frequencies.
  @_noLocks @_noAllocation @inline(__always)
  init(tail c: UnsafeMutablePointer<pinna_convolver>, of unit: Int) {
    let block = c.pointee.clock &>> 3 &- (unit &>> c.pointee.tail.shift <= c.pointee.clock & 7 ? 0 : 1)
    partitions = c.pointee.tail.blocks
    slots = partitions
    groups = c.pointee.groups
    newest = block % partitions
    chunk = c.pointee.chunk
    slot = 2 &* groups
    self.unit = c.pointee.tail.unit / laneCount()
    filterUnit = partitions &* slot
    filterOutput = c.pointee.units &* 16 &* filterUnit
  }
}

/// Transforms the last sixteen periods of the units whose turn it is.
@_noLocks @_noAllocation
func analyseTail(_ c: UnsafeMutablePointer<pinna_convolver>) {
  let w = Walk(c)
  let work = vectors(c.pointee.tail.work)
  var u = turn(c)
  let end = u &+ 1 &<< c.pointee.tail.shift
  while u < end {
    let t = Walk(tail: c, of: u)
    let spectra = vectors(c.pointee.spectra) + u &* w.unit
    let target = vectors(c.pointee.tail.spectra) + (u &* 16 &* t.unit &+ t.newest &* t.slot)
    var group = 0
    while group < w.groups {
      // The oldest of sixteen would only come out in what is thrown away.
      work[0] = Lanes.zero
      work[1] = Lanes.zero
      var n = 1
      while n < 16 {
        let x = spectra + (w.slot(age: 16 &- n) &* w.slot &+ 2 &* group)
        work[2 &* n] = x[0]
        work[2 &* n &+ 1] = x[1]
        n &+= 1
      }
      transform16(work, c.pointee.tail.turns, target + 2 &* group, t.unit)
      group &+= 1
    }
    u &+= 1
  }
}

/// The tail's part of this period and the next seven, for the units whose turn it is; for all units where a voice is
/// to be heard that has not had a turn of each.
@_noLocks @_noAllocation
func sumTail(_ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>) {
  let isLate = voice.pointee.left != nil && voice.pointee.known < PINNA_TURNS &- 1
  var u = isLate ? 0 : turn(c)
  let end = isLate ? c.pointee.units : u &+ 1 &<< c.pointee.tail.shift
  let work = vectors(c.pointee.tail.work)
  while u < end {
    let w = Walk(tail: c, of: u)
    let x = UnsafePointer(vectors(c.pointee.tail.spectra) + u &* 16 &* w.unit)
    let h = vectors(voice.pointee.tail) + u &* 16 &* w.filterUnit
    var f = 0
    while f < 16 {
      let s = straight(w, x + f &* w.unit, h + f &* w.filterUnit)
      let left = work + 2 &* f
      let right = left + 32
      (left[0], left[1], right[0], right[1]) = (s.r0, s.i0, s.r1, s.i1)
      (left[2], left[3], right[2], right[3]) = (s.r2, s.i2, s.r3, s.i3)
      f &+= 2
    }
    let later = vectors(voice.pointee.later) + u &* 32
    invert16(work, c.pointee.tail.turns, later)
    invert16(work + 32, c.pointee.tail.turns, later + 2)
    u &+= 1
  }
  voice.pointee.known = isLate ? PINNA_TURNS : min(PINNA_TURNS, voice.pointee.known &+ 1)
}

/// The tail's part of this period in two neighbouring units.
@_noLocks @_noAllocation @inline(__always)
func addTail(
  _ c: UnsafeMutablePointer<pinna_convolver>, _ voice: UnsafeMutablePointer<pinna_voice>, _ u: Int,
  _ sums: inout Sums
) {
  let (clock, shift) = (c.pointee.clock, c.pointee.tail.shift)
  let a = vectors(voice.pointee.later) + (u &* 8 &+ (clock &- u &>> shift) & 7) &* 4
  let b = vectors(voice.pointee.later) + ((u &+ 1) &* 8 &+ (clock &- (u &+ 1) &>> shift) & 7) &* 4
  sums.r0 += a[0]
  sums.i0 += a[1]
  sums.r1 += a[2]
  sums.i1 += a[3]
  sums.r2 += b[0]
  sums.i2 += b[1]
  sums.r3 += b[2]
  sums.i3 += b[3]
}

/// Sixteen complex numbers in `z`, shape `[16][re, im]`, which is overwritten; frequency k1 + 4 k2 goes to place
/// 4 k1 + k2 of `to`, places `step` vectors apart.
@_noLocks @_noAllocation @inline(__always)
private func transform16(
  _ z: Vectors, _ turns: UnsafePointer<Float>, _ to: Vectors, _ step: Int
) {
  var n = 0
  while n < 4 {
    var quad = Quad(
      z[2 &* n], z[2 &* n &+ 1], z[2 &* n &+ 8], z[2 &* n &+ 9], z[2 &* n &+ 16], z[2 &* n &+ 17],
      z[2 &* n &+ 24], z[2 &* n &+ 25])
    if n > 0 { quad.turn(Turns(turns + 6 &* n)) }
    quad.put(z + 2 &* n, 8)
    n &+= 1
  }
  var k = 0
  while k < 4 {
    let x = z + 8 &* k
    let quad = Quad(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
    quad.put(to + 4 &* k &* step, step)
    k &+= 1
  }
}

/// The way back, unscaled, from `z` in that order: the last eight of sixteen numbers to `to`, four vectors apart.
@_noLocks @_noAllocation @inline(__always)
private func invert16(_ z: Vectors, _ turns: UnsafePointer<Float>, _ to: Vectors) {
  // With real and imaginary parts exchanged on the way in and out it is the way there.
  var k = 0
  while k < 4 {
    let x = z + 8 &* k
    var quad = Quad(x[1], x[0], x[3], x[2], x[5], x[4], x[7], x[6])
    if k > 0 { quad.turn(Turns(turns + 6 &* k)) }
    quad.put(x, 2)
    k &+= 1
  }
  var n = 0
  while n < 4 {
    let x = z + 2 &* n
    let quad = Quad(x[0], x[1], x[8], x[9], x[16], x[17], x[24], x[25])
    let y = to + 4 &* n
    y[0] = quad.i2
    y[1] = quad.r2
    y[16] = quad.i3
    y[17] = quad.r3
    n &+= 1
  }
}
