import CRealtime

// Sums of complex products x·h, each a vector of real and one of imaginary parts. Where the processor has 32 registers
// (AVX-512), long sums take three multiplications per product instead of four (Karatsuba):
//
//   a = Σ re x · re h,   b = Σ im x · im h,   c = Σ (re x + im x)(re h + im h)
//   re Σ x·h = a − b,    im Σ x·h = c − (a + b)
//
// Each sum re + im serves two products. Twelve vectors of sums do not fit 16 registers.
//
// Thread: any; pure functions.

/// A vector of complex numbers.
struct Complex {
  let re, im: Lanes

  @_noLocks @_noAllocation @inline(__always)
  init(_ at: UnsafePointer<Lanes>) {
    re = at[0]
    im = at[1]
  }
}

/// A sum of complex products.
struct Sum {
  var re = Lanes.zero
  var im = Lanes.zero

  @_noLocks @_noAllocation @inline(__always)
  init() {}

  @_noLocks @_noAllocation @inline(__always)
  init(_ at: UnsafePointer<Lanes>) {
    re = at[0]
    im = at[1]
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func add(_ other: Sum) {
    re += other.re
    im += other.im
  }

  @_noLocks @_noAllocation @inline(__always)
  func write(_ to: Vectors) {
    to[0] = re
    to[1] = im
  }
}

#if REGISTERS_32
  /// A long sum of complex products while terms are added.
  struct LongSum {
    private var a = Lanes.zero
    private var b = Lanes.zero
    private var c = Lanes.zero

    @_noLocks @_noAllocation @inline(__always)
    init() {}

    @_noLocks @_noAllocation @inline(__always)
    mutating func add(_ x: Complex, _ h: Complex) {
      a = multiplyAdd(a, x.re, h.re)
      b = multiplyAdd(b, x.im, h.im)
      c = multiplyAdd(c, x.re + x.im, h.re + h.im)
    }

    @_noLocks @_noAllocation @inline(__always)
    init(_ start: Sum) {
      a = start.re
      c = start.re + start.im
    }

    var sum: Sum {
      @_noLocks @_noAllocation @inline(__always) get {
        var sum = Sum()
        sum.re = a - b
        sum.im = c - (a + b)
        return sum
      }
    }
  }
#else
  typealias LongSum = Sum

  extension Sum {
    @_noLocks @_noAllocation @inline(__always)
    init(_ start: Sum) { self = start }

    @_noLocks @_noAllocation @inline(__always)
    mutating func add(_ x: Complex, _ h: Complex) {
      re = multiplySubtract(multiplyAdd(re, x.re, h.re), x.im, h.im)
      im = multiplyAdd(multiplyAdd(im, x.re, h.im), x.im, h.re)
    }

    var sum: Sum {
      @_noLocks @_noAllocation @inline(__always) get { self }
    }
  }
#endif

/// Four sums. The functions that compute them say of what.
struct FourSums {
  var s0 = Sum()
  var s1 = Sum()
  var s2 = Sum()
  var s3 = Sum()

  @_noLocks @_noAllocation @inline(__always)
  init() {}

  @_noLocks @_noAllocation @inline(__always)
  init(_ s0: Sum, _ s1: Sum, _ s2: Sum, _ s3: Sum) {
    self.s0 = s0
    self.s1 = s1
    self.s2 = s2
    self.s3 = s3
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func add(_ other: FourSums) {
    s0.add(other.s0)
    s1.add(other.s1)
    s2.add(other.s2)
    s3.add(other.s3)
  }
}

struct FourLongSums {
  var s0, s1, s2, s3: LongSum

  @_noLocks @_noAllocation @inline(__always)
  init() {
    s0 = LongSum()
    s1 = LongSum()
    s2 = LongSum()
    s3 = LongSum()
  }

  @_noLocks @_noAllocation @inline(__always)
  init(_ start: FourSums) {
    s0 = LongSum(start.s0)
    s1 = LongSum(start.s1)
    s2 = LongSum(start.s2)
    s3 = LongSum(start.s3)
  }

  var sums: FourSums {
    @_noLocks @_noAllocation @inline(__always) get { FourSums(s0.sum, s1.sum, s2.sum, s3.sum) }
  }
}
