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

  /// One period each, ahead by 0, 1, 2, 3, of one unit and output.
  @_noLocks @_noAllocation @inline(__always)
  mutating func addAhead(_ x: UnsafePointer<Lanes>, _ slot: Int, _ hr: Lanes, _ hi: Lanes) {
    add0(x[0], x[1], hr, hi)
    add1(x[slot], x[slot &+ 1], hr, hi)
    add2(x[2 &* slot], x[2 &* slot &+ 1], hr, hi)
    add3(x[3 &* slot], x[3 &* slot &+ 1], hr, hi)
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

/// What the walk over partitions needs to know.
struct Walk {
  let partitions: Int
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
    partitions = c.pointee.partitions
    groups = c.pointee.groups
    newest = c.pointee.newest
    chunk = c.pointee.chunk
    slot = 2 &* groups
    unit = c.pointee.unit / laneCount()
    filterUnit = partitions &* slot
    filterOutput = c.pointee.units &* filterUnit
  }

  /// Slot of the spectrum of `age` periods ago.
  @_noLocks @_noAllocation @inline(__always)
  func slot(age: Int) -> Int {
    let s = newest &- age
    return s < 0 ? s &+ partitions : s
  }

  /// How many of `left` partitions belong to the chunk that comes next.
  @_noLocks @_noAllocation @inline(__always)
  func next(_ left: Int) -> Int { left > chunk ? (left &- 1) % chunk &+ 1 : left }
}

/// The last `count` partitions of two neighbouring units and both outputs, added to `start`.
/// Order of the sums: unit 0 left, unit 0 right, unit 1 left, unit 1 right.
@_noLocks @_noAllocation @inline(__always)
func straight(
  _ w: Walk, _ spectra: UnsafePointer<Lanes>, _ filters: UnsafePointer<Lanes>, _ count: Int, _ start: Sums
) -> Sums {
  var sums = start
  var total = Sums()
  var left = count
  var h = filters + (w.partitions &- count) &* w.slot
  while true {
    let size = w.next(left)
    var age = left &- 1
    left &-= size
    while age >= left {
      let at = w.slot(age: age)
      let run = min(age &- left &+ 1, w.partitions &- at)
      var x = spectra + at &* w.slot
      let end = h + run &* w.slot
      while h < end {
        let (xr, xi, yr, yi) = (x[0], x[1], x[w.unit], x[w.unit &+ 1])
        sums.add0(xr, xi, h[0], h[1])
        sums.add1(xr, xi, h[w.filterOutput], h[w.filterOutput &+ 1])
        sums.add2(yr, yi, h[w.filterUnit], h[w.filterUnit &+ 1])
        sums.add3(yr, yi, h[w.filterOutput &+ w.filterUnit], h[w.filterOutput &+ w.filterUnit &+ 1])
        x += 2
        h += 2
      }
      age &-= run
    }
    if left == 0 { return sums }
    total.add(sums)
    sums = left == w.chunk ? total : Sums()
  }
}

/// One unit and one output: this period's sum and what is known of the next three, in `Sums` 0 to 3.
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
    let last = max(left, 3)
    while age >= last {
      let at = w.slot(age: age)
      let run = min(age &- last &+ 1, w.partitions &- at)
      var x = spectra + at &* w.slot
      let end = h + run &* w.slot
      while h < end {
        sums.addAhead(x, w.slot, h[0], h[1])
        x += 2
        h += 2
      }
      age &-= run
    }
    if left == 0 { break }
    total.add(sums)
    sums = left == w.chunk ? total : Sums()
  }
  // What the three newest partitions make of the three newest periods.
  var x = spectra + w.slot(age: 2) &* w.slot
  var end = h + w.slot
  while h < end {
    sums.add0(x[0], x[1], h[0], h[1])
    sums.add1(x[w.slot], x[w.slot &+ 1], h[0], h[1])
    sums.add2(x[2 &* w.slot], x[2 &* w.slot &+ 1], h[0], h[1])
    x += 2
    h += 2
  }
  x = spectra + w.slot(age: 1) &* w.slot
  end = h + w.slot
  while h < end {
    sums.add0(x[0], x[1], h[0], h[1])
    sums.add1(x[w.slot], x[w.slot &+ 1], h[0], h[1])
    x += 2
    h += 2
  }
  x = spectra + w.newest &* w.slot
  end = h + w.slot
  while h < end {
    sums.add0(x[0], x[1], h[0], h[1])
    x += 2
    h += 2
  }
  return sums
}
