import CRealtime

// Sums of complex products x·h; real and imaginary parts are separate vectors. Builds for AVX-512, which has 32 registers
// (REGISTERS_32), take three multiplications per product instead of four (Karatsuba). Those for arm64 do not: its processors
// add in the units that multiply, and the additions outweigh what is saved (6 to 13 % more instructions).
//
//   a = Σ re x · re h,   b = Σ im x · im h,   c = Σ (re x + im x)(re h + im h)
//   re Σ x·h = a − b,    im Σ x·h = c − (a + b)
//
// In paired sums each re + im serves two products; in direct sums only that of the spectrum does. Four sums take twelve
// accumulators: with 16 registers too few remain for the operands.
//
// Thread: any; pure functions, and access to memory that the caller owns.

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
struct ComplexSum {
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
  mutating func add(_ other: ComplexSum) {
    re += other.re
    im += other.im
  }

  @_noLocks @_noAllocation @inline(__always)
  func write(_ to: Vectors) {
    to[0] = re
    to[1] = im
  }
}

#if REGISTERS_32 && !arch(arm64)
  /// Accumulates complex products. `sum` is their sum.
  struct ComplexAccumulator {
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
    init(_ start: ComplexSum) {
      a = start.re
      c = start.re + start.im
    }

    var sum: ComplexSum {
      @_noLocks @_noAllocation @inline(__always) get {
        var sum = ComplexSum()
        sum.re = a - b
        sum.im = c - (a + b)
        return sum
      }
    }
  }
#else
  typealias ComplexAccumulator = ComplexSum

  extension ComplexSum {
    @_noLocks @_noAllocation @inline(__always)
    init(_ start: ComplexSum) { self = start }

    @_noLocks @_noAllocation @inline(__always)
    mutating func add(_ x: Complex, _ h: Complex) {
      re = multiplySubtract(multiplyAdd(re, x.re, h.re), x.im, h.im)
      im = multiplyAdd(multiplyAdd(im, x.re, h.im), x.im, h.re)
    }

    var sum: ComplexSum {
      @_noLocks @_noAllocation @inline(__always) get { self }
    }
  }
#endif

/// Four sums. What each is of depends on the function: see its `Order:`.
struct FourSums {
  var s0 = ComplexSum()
  var s1 = ComplexSum()
  var s2 = ComplexSum()
  var s3 = ComplexSum()

  @_noLocks @_noAllocation @inline(__always)
  init() {}

  @_noLocks @_noAllocation @inline(__always)
  init(_ s0: ComplexSum, _ s1: ComplexSum, _ s2: ComplexSum, _ s3: ComplexSum) {
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

/// The accumulators of four sums, in the same order.
struct FourAccumulators {
  var s0, s1, s2, s3: ComplexAccumulator

  @_noLocks @_noAllocation @inline(__always)
  init() {
    s0 = ComplexAccumulator()
    s1 = ComplexAccumulator()
    s2 = ComplexAccumulator()
    s3 = ComplexAccumulator()
  }

  @_noLocks @_noAllocation @inline(__always)
  init(_ start: FourSums) {
    s0 = ComplexAccumulator(start.s0)
    s1 = ComplexAccumulator(start.s1)
    s2 = ComplexAccumulator(start.s2)
    s3 = ComplexAccumulator(start.s3)
  }

  var sums: FourSums {
    @_noLocks @_noAllocation @inline(__always) get { FourSums(s0.sum, s1.sum, s2.sum, s3.sum) }
  }
}
