// SIMD vectors and their arithmetic. The kernels are compiled once per instruction set and vector length.
//
//   Lanes    | 0 | 1 | 2 | … |     4 floats (baseline), 8 (LANES_8: AVX2) or 16 (LANES_16: AVX-512)
//   complex  | re lanes | im lanes |     two vectors, side by side in memory (split complex)
//
// Thread: any; pure functions, and access to memory that the caller owns.

#if LANES_16
  typealias Lanes = SIMD16<Float>
  typealias Bits = SIMD16<UInt32>
  typealias Pairs = SIMD8<Double>
#elseif LANES_8
  typealias Lanes = SIMD8<Float>
  typealias Bits = SIMD8<UInt32>
  typealias Pairs = SIMD4<Double>
#else
  typealias Lanes = SIMD4<Float>
  typealias Bits = SIMD4<UInt32>
  typealias Pairs = SIMD2<Double>
#endif
typealias Float4 = SIMD4<Float>
typealias Vectors = UnsafeMutablePointer<Lanes>
typealias Floats = UnsafeMutablePointer<Float>

@_noLocks @_noAllocation @inline(__always)
func laneCount() -> Int {
  #if LANES_16
    return 16
  #elseif LANES_8
    return 8
  #else
    return 4
  #endif
}

@_noLocks @_noAllocation @inline(__always)
func vectors(_ floats: Floats) -> Vectors {
  UnsafeMutableRawPointer(floats).assumingMemoryBound(to: Lanes.self)
}

@_noLocks @_noAllocation @inline(__always)
func vectors(_ floats: UnsafePointer<Float>) -> UnsafePointer<Lanes> {
  UnsafeRawPointer(floats).assumingMemoryBound(to: Lanes.self)
}

// Loads and stores at any alignment.

@_noLocks @_noAllocation @inline(__always)
func load(_ floats: UnsafePointer<Float>) -> Lanes { UnsafeRawPointer(floats).loadUnaligned(as: Lanes.self) }

@_noLocks @_noAllocation @inline(__always)
func store(_ value: Lanes, _ floats: Floats) {
  UnsafeMutableRawPointer(floats).storeBytes(of: value, as: Lanes.self)
}

@_noLocks @_noAllocation @inline(__always)
func loadFour(_ floats: UnsafePointer<Float>) -> Float4 {
  UnsafeRawPointer(floats).loadUnaligned(as: Float4.self)
}

@_noLocks @_noAllocation @inline(__always)
func storeFour(_ value: Float4, _ floats: Floats) {
  UnsafeMutableRawPointer(floats).storeBytes(of: value, as: Float4.self)
}

// Fused multiply-add rounds once. Without the instruction it would be a slow library call, so builds without FMA
// round twice.

/// sum + a · b
@_noLocks @_noAllocation @inline(__always)
func multiplyAdd(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
  #if FMA
    return sum.addingProduct(a, b)
  #else
    return sum + a * b
  #endif
}

/// sum − a · b
@_noLocks @_noAllocation @inline(__always)
func multiplySubtract(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
  #if FMA
    return sum.addingProduct(negated(a), b)
  #else
    return sum - a * b
  #endif
}

/// −a by flipping the sign bit. The compiler folds this into a fused negated multiplication; it does not fold 0 − a.
@_noLocks @_noAllocation @inline(__always)
func negated(_ a: Lanes) -> Lanes {
  unsafeBitCast(unsafeBitCast(a, to: Bits.self) ^ Bits(repeating: 0x8000_0000), to: Lanes.self)
}

/// a0 b0 a1 b1, then a2 b2 a3 b3.
@_noLocks @_noAllocation @inline(__always)
func interleave(_ a: Float4, _ b: Float4) -> (low: Float4, high: Float4) {
  (Float4(a.x, b.x, a.y, b.y), Float4(a.z, b.z, a.w, b.w))
}

/// Four sums, each of every fourth lane. This reinterprets memory instead of using `lowHalf` and `highHalf`: for those
/// the compiler assembles the halves, and adds them, element by element.
@_noLocks @_noAllocation @inline(__always)
func foldToFour(_ v: Lanes) -> Float4 {
  #if LANES_16
    let halves = unsafeBitCast(v, to: (SIMD8<Float>, SIMD8<Float>).self)
    let quarters = unsafeBitCast(halves.0 + halves.1, to: (Float4, Float4).self)
    return quarters.0 + quarters.1
  #elseif LANES_8
    let halves = unsafeBitCast(v, to: (Float4, Float4).self)
    return halves.0 + halves.1
  #else
    return v
  #endif
}

@_noLocks @_noAllocation @inline(__always)
func sumOfLanes(_ a: Lanes) -> Float {
  let v = foldToFour(a)
  return (v.x + v.z) + (v.y + v.w)
}

// Moving elements between lanes. The compiler splits arithmetic into scalars, or into shorter vectors, where its results
// are moved or stored in parts. Functions that do so are therefore never inlined; vectors reach them in registers.

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
