import CRealtime

// The FFT of RowFFT.swift where its points fill eight vectors and the processor has 32 registers: 128 points with 16 lanes, 64
// with 8, 32 with 4. All passes in registers; the same operations in the same order, and the same bits.
//
//   pass      butterflies read vectors      write vectors, already in the order of the next pass
//   first     0, 2, 4, 6; 1, 3, 5, 7        0 … 3; 4 … 7
//   second    the same                      the same; not with 4 lanes
//   last      0 … 7 (radix 8: 16 or 4 lanes), or the same (radix 4)
//
// Thread: JACK's realtime thread (process callback) or the thread that takes its place offline; before the callback
// knows a convolver, the control side. All functions.

#if REGISTERS_32
  @_noLocks @_noAllocation @inline(__always)
  func rowFFTOfEightVectors(
    _ plan: pinna_row_fft, _ re: UnsafePointer<Float>, _ im: UnsafePointer<Float>, _ target: RowTarget
  ) {
    let length = laneCount()
    let quarter = 2 &* length
    var (a, b): (Radix4, Radix4)
    switch target {
    case .spectrum:
      let table = plan.weightedTwiddles!
      a = Radix4(weighted: re, im, table, quarter)
      b = Radix4(weighted: re + length, im + length, table + length, quarter)
    case .frames:
      let table = plan.firstTwiddles!
      a = Radix4(re, im, quarter)
      a.apply(Twiddles(table, count: quarter))
      b = Radix4(re + length, im + length, quarter)
      b.apply(Twiddles(table + length, count: quarter))
    }
    (a, b) = (a.ofLanes(), b.ofLanes())
    #if LANES_16 || LANES_8
      (a, b) = butterflies(a, b)
      a.apply(Twiddles(plan.secondTwiddles, count: quarter))
      b.apply(Twiddles(plan.secondTwiddles + length, count: quarter))
      (a, b) = (a.ofFours(), b.ofFours())
    #endif
    #if LANES_8
      (a, b) = butterflies(a, b)
    #else
      let q = Radix8(
        a.r0, a.i0, a.r1, a.i1, a.r2, a.i2, a.r3, a.i3, b.r0, b.i0, b.r1, b.i1, b.r2, b.i2, b.r3, b.i3)
      (a, b) = (q.even, q.odd)
    #endif
    target.storeResults(0, a.r0, a.i0)
    target.storeResults(length, b.r0, b.i0)
    target.storeResults(2 &* length, a.r1, a.i1)
    target.storeResults(3 &* length, b.r1, b.i1)
    target.storeResults(4 &* length, a.r2, a.i2)
    target.storeResults(5 &* length, b.r2, b.i2)
    target.storeResults(6 &* length, a.r3, a.i3)
    target.storeResults(7 &* length, b.r3, b.i3)
  }

  #if LANES_16
    @_noLocks @_noAllocation @inline(__always)
    func rowFFTOfFourVectors(
      _ plan: pinna_row_fft, _ re: UnsafePointer<Float>, _ im: UnsafePointer<Float>, _ target: RowTarget
    ) {
      let length = laneCount()
      var a: Radix4
      switch target {
      case .spectrum: a = Radix4(weighted: re, im, plan.weightedTwiddles, length)
      case .frames:
        a = Radix4(re, im, length)
        a.apply(Twiddles(plan.firstTwiddles, count: length))
      }
      a = a.ofLanes().butterfly()
      a.apply(Twiddles(plan.secondTwiddles, count: length))
      a = a.ofFours().butterfly()
      target.storeResults(0, a.r0, a.i0)
      target.storeResults(length, a.r1, a.i1)
      target.storeResults(2 &* length, a.r2, a.i2)
      target.storeResults(3 &* length, a.r3, a.i3)
    }
  #endif

  extension Radix4 {
    @_noLocks @_noAllocation @inline(__always)
    fileprivate func butterfly() -> Radix4 { Radix4(r0, i0, r1, i1, r2, i2, r3, i3) }
  }

  /// The butterflies of one pass: over the even and over the odd ones of the vectors, of which `a` holds the first four.
  @_noLocks @_noAllocation @inline(__always)
  private func butterflies(_ a: Radix4, _ b: Radix4) -> (Radix4, Radix4) {
    (
      Radix4(a.r0, a.i0, a.r2, a.i2, b.r0, b.i0, b.r2, b.i2),
      Radix4(a.r1, a.i1, a.r3, a.i3, b.r1, b.i1, b.r3, b.i3)
    )
  }
#endif
