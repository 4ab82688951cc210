import CRealtime

// Sums over partitions and microphones of spectrum × filter, unit by unit.
//
// The terms of a sum are added in one order, oldest partition first, in chunks that join a total, whichever of the
// ways below is taken: so the same samples come out whatever period a unit's turn falls on.

/// Sums of two units and both outputs.
struct Sums {
  var r0 = Lanes.zero
  var i0 = Lanes.zero
  var r1 = Lanes.zero
  var i1 = Lanes.zero
  var r2 = Lanes.zero
  var i2 = Lanes.zero
  var r3 = Lanes.zero
  var i3 = Lanes.zero

  @_noLocks @_noAllocation @inline(__always)
  init() {}

  @_noLocks @_noAllocation @inline(__always)
  mutating func add(_ s: Sums) {
    r0 += s.r0
    i0 += s.i0
    r1 += s.r1
    i1 += s.i1
    r2 += s.r2
    i2 += s.i2
    r3 += s.r3
    i3 += s.i3
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func add0(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r0 = minus(plus(r0, xr, hr), xi, hi)
    i0 = plus(plus(i0, xr, hi), xi, hr)
  }
  @_noLocks @_noAllocation @inline(__always)
  mutating func add1(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r1 = minus(plus(r1, xr, hr), xi, hi)
    i1 = plus(plus(i1, xr, hi), xi, hr)
  }
  @_noLocks @_noAllocation @inline(__always)
  mutating func add2(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r2 = minus(plus(r2, xr, hr), xi, hi)
    i2 = plus(plus(i2, xr, hi), xi, hr)
  }
  @_noLocks @_noAllocation @inline(__always)
  mutating func add3(_ xr: Lanes, _ xi: Lanes, _ hr: Lanes, _ hi: Lanes) {
    r3 = minus(plus(r3, xr, hr), xi, hi)
    i3 = plus(plus(i3, xr, hi), xi, hr)
  }
}

extension Sums {
  /// `count` vectors of spectra × filters of two neighbouring units and both outputs.
  @_noLocks @_noAllocation @inline(__always)
  mutating func addPair(_ w: Walk, _ x: UnsafePointer<Lanes>, _ h: UnsafePointer<Lanes>, _ count: Int) {
    let right = h + w.filterOutput
    let (y, next, nextRight) = (x + w.unit, h + w.filterUnit, right + w.filterUnit)
    var n = 0
    while n < count {
      add0(x[n], x[n &+ 1], h[n], h[n &+ 1])
      add1(x[n], x[n &+ 1], right[n], right[n &+ 1])
      add2(y[n], y[n &+ 1], next[n], next[n &+ 1])
      add3(y[n], y[n &+ 1], nextRight[n], nextRight[n &+ 1])
      n &+= 2
    }
  }
}

/// What the walk over partitions needs to know.
struct Walk {
  let partitions: Int
  let slots: Int
  let groups: Int
  let newest: Int
  let chunk: Int
  /// Vectors from one slot to the next, and from one unit to the next.
  let slot: Int
  let unit: Int
  let filterUnit: Int
  let filterOutput: Int

  @_noLocks @_noAllocation @inline(__always)
  init(_ c: UnsafeMutablePointer<pinna_convolver>) {
    partitions = c.pointee.head
    slots = c.pointee.slots
    groups = c.pointee.groups
    newest = c.pointee.newest
    chunk = c.pointee.chunk
    slot = 2 &* groups
    unit = c.pointee.unit / laneCount()
    filterUnit = partitions &* slot
    filterOutput = c.pointee.units &* filterUnit
  }

  /// Slot of the spectrum, or block, that came `age` times ago.
  @_noLocks @_noAllocation @inline(__always)
  func slot(age: Int) -> Int {
    let s = newest &- age
    return s < 0 ? s &+ slots : s
  }

  /// How many of `left` partitions belong to the chunk that comes next.
  @_noLocks @_noAllocation @inline(__always)
  func next(_ left: Int) -> Int { left > chunk ? (left &- 1) % chunk &+ 1 : left }
}

/// All partitions of two neighbouring units and both outputs.
/// Order of the sums: unit 0 left, unit 0 right, unit 1 left, unit 1 right.
@_noLocks @_noAllocation @inline(__always)
func straight(_ w: Walk, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>) -> Sums {
  var sums = Sums()
  var total = Sums()
  var left = w.partitions
  var h = filters
  while true {
    let size = w.next(left)
    var age = left &- 1
    left &-= size
    while age >= left {
      let at = w.slot(age: age)
      let run = min(age &- left &+ 1, w.slots &- at)
      sums.addPair(w, spectra + at &* w.slot, h, run &* w.slot)
      h += run &* w.slot
      age &-= run
    }
    if left == 0 { return sums }
    total.add(sums)
    sums = left == w.chunk ? total : Sums()
  }
}

/// One unit: this period's sums and what is known of the next period's.
/// Order of the sums: left now, left next, right now, right next.
@_noLocks @_noAllocation @inline(__always)
func ahead(_ w: Walk, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>) -> Sums {
  var sums = Sums()
  var total = Sums()
  var left = w.partitions
  var h = filters
  while true {
    let size = w.next(left)
    var age = left &- 1
    left &-= size
    let last = max(left, 1)
    while age >= last {
      // The period before stands behind each, but for the last slot, whose is the first.
      let at = w.slot(age: age)
      let isLast = at &+ 1 == w.slots
      let run = isLast ? 1 : min(age &- last &+ 1, w.slots &- 1 &- at)
      var x = spectra + at &* w.slot
      var y = isLast ? spectra : x + w.slot
      let end = h + run &* w.slot
      while h < end {
        let (lr, li, rr, ri) = (h[0], h[1], h[w.filterOutput], h[w.filterOutput &+ 1])
        sums.add0(x[0], x[1], lr, li)
        sums.add2(x[0], x[1], rr, ri)
        sums.add1(y[0], y[1], lr, li)
        sums.add3(y[0], y[1], rr, ri)
        x += 2
        y += 2
        h += 2
      }
      age &-= run
    }
    if left == 0 { break }
    total.add(sums)
    sums = left == w.chunk ? total : Sums()
  }
  var x = spectra + w.newest &* w.slot
  let end = h + w.slot
  while h < end {
    sums.add0(x[0], x[1], h[0], h[1])
    sums.add2(x[0], x[1], h[w.filterOutput], h[w.filterOutput &+ 1])
    x += 2
    h += 2
  }
  return sums
}
