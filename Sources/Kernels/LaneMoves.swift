// Moves of elements between lanes. Where results of arithmetic are moved or stored in parts, LLVM splits the arithmetic into
// scalars or shorter vectors. Call these functions only from functions that are never inlined.
//
// Thread: any; pure functions, and stores to memory that the caller owns.

/// Transposes four vectors in groups of four lanes: vector i of the result has element i of each group's four.
@_noLocks @_noAllocation @inline(__always)
func transposedInFours(_ a: Lanes, _ b: Lanes, _ c: Lanes, _ d: Lanes) -> (Lanes, Lanes, Lanes, Lanes) {
  let (abLow, cdLow) = (interleavedLow(a, b), interleavedLow(c, d))
  let (abHigh, cdHigh) = (interleavedHigh(a, b), interleavedHigh(c, d))
  return (
    pairsLow(abLow, cdLow), pairsHigh(abLow, cdLow), pairsLow(abHigh, cdHigh), pairsHigh(abHigh, cdHigh)
  )
}

/// Stores four vectors in groups of four lanes: group 0 of each, then group 1 of each, and so on.
@_noLocks @_noAllocation @inline(__always)
func storeFours(_ v: (Lanes, Lanes, Lanes, Lanes), _ to: Floats) {
  #if LANES_16
    let a = unsafeBitCast(v.0, to: (Float4, Float4, Float4, Float4).self)
    let b = unsafeBitCast(v.1, to: (Float4, Float4, Float4, Float4).self)
    let c = unsafeBitCast(v.2, to: (Float4, Float4, Float4, Float4).self)
    let d = unsafeBitCast(v.3, to: (Float4, Float4, Float4, Float4).self)
    storeRow(a.0, b.0, c.0, d.0, to)
    storeRow(a.1, b.1, c.1, d.1, to + 16)
    storeRow(a.2, b.2, c.2, d.2, to + 32)
    storeRow(a.3, b.3, c.3, d.3, to + 48)
  #elseif LANES_8
    let a = unsafeBitCast(v.0, to: (Float4, Float4).self)
    let b = unsafeBitCast(v.1, to: (Float4, Float4).self)
    let c = unsafeBitCast(v.2, to: (Float4, Float4).self)
    let d = unsafeBitCast(v.3, to: (Float4, Float4).self)
    storeRow(a.0, b.0, c.0, d.0, to)
    storeRow(a.1, b.1, c.1, d.1, to + 16)
  #else
    storeRow(v.0, v.1, v.2, v.3, to)
  #endif
}

@_noLocks @_noAllocation @inline(__always)
private func storeRow(_ a: Float4, _ b: Float4, _ c: Float4, _ d: Float4, _ to: Floats) {
  storeFour(a, to)
  storeFour(b, to + 4)
  storeFour(c, to + 8)
  storeFour(d, to + 12)
}

/// a0 b0 a1 b1 of each group of four lanes.
@_noLocks @_noAllocation @inline(__always)
private func interleavedLow(_ a: Lanes, _ b: Lanes) -> Lanes {
  #if LANES_16
    return Lanes(
      a[0], b[0], a[1], b[1], a[4], b[4], a[5], b[5], a[8], b[8], a[9], b[9], a[12], b[12], a[13], b[13])
  #elseif LANES_8
    return Lanes(a[0], b[0], a[1], b[1], a[4], b[4], a[5], b[5])
  #else
    return Lanes(a[0], b[0], a[1], b[1])
  #endif
}

/// a2 b2 a3 b3 of each group of four lanes.
@_noLocks @_noAllocation @inline(__always)
private func interleavedHigh(_ a: Lanes, _ b: Lanes) -> Lanes {
  #if LANES_16
    return Lanes(
      a[2], b[2], a[3], b[3], a[6], b[6], a[7], b[7], a[10], b[10], a[11], b[11], a[14], b[14], a[15], b[15])
  #elseif LANES_8
    return Lanes(a[2], b[2], a[3], b[3], a[6], b[6], a[7], b[7])
  #else
    return Lanes(a[2], b[2], a[3], b[3])
  #endif
}

/// a0 a1 b0 b1 of each group of four lanes. Pairs are moved as one element: otherwise the compiler joins these moves with
/// those before them, and finds no instruction for the result.
@_noLocks @_noAllocation @inline(__always)
private func pairsLow(_ a: Lanes, _ b: Lanes) -> Lanes {
  let (x, y) = (unsafeBitCast(a, to: Pairs.self), unsafeBitCast(b, to: Pairs.self))
  #if LANES_16
    return unsafeBitCast(Pairs(x[0], y[0], x[2], y[2], x[4], y[4], x[6], y[6]), to: Lanes.self)
  #elseif LANES_8
    return unsafeBitCast(Pairs(x[0], y[0], x[2], y[2]), to: Lanes.self)
  #else
    return unsafeBitCast(Pairs(x[0], y[0]), to: Lanes.self)
  #endif
}

/// a2 a3 b2 b3 of each group of four lanes.
@_noLocks @_noAllocation @inline(__always)
private func pairsHigh(_ a: Lanes, _ b: Lanes) -> Lanes {
  let (x, y) = (unsafeBitCast(a, to: Pairs.self), unsafeBitCast(b, to: Pairs.self))
  #if LANES_16
    return unsafeBitCast(Pairs(x[1], y[1], x[3], y[3], x[5], y[5], x[7], y[7]), to: Lanes.self)
  #elseif LANES_8
    return unsafeBitCast(Pairs(x[1], y[1], x[3], y[3]), to: Lanes.self)
  #else
    return unsafeBitCast(Pairs(x[1], y[1]), to: Lanes.self)
  #endif
}
