// The vectors that these kernels work in. Compiled once per instruction set and vector length.

#if LANES_16
  typealias Lanes = SIMD16<Float>
  typealias Bits = SIMD16<UInt32>
#elseif LANES_8
  typealias Lanes = SIMD8<Float>
  typealias Bits = SIMD8<UInt32>
#else
  typealias Lanes = SIMD4<Float>
  typealias Bits = SIMD4<UInt32>
#endif
typealias Four = SIMD4<Float>
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

/// Vectors at any address.
@_noLocks @_noAllocation @inline(__always)
func load(_ floats: UnsafePointer<Float>) -> Lanes { UnsafeRawPointer(floats).loadUnaligned(as: Lanes.self) }

@_noLocks @_noAllocation @inline(__always)
func store(_ value: Lanes, _ floats: Floats) {
  UnsafeMutableRawPointer(floats).storeBytes(of: value, as: Lanes.self)
}

@_noLocks @_noAllocation @inline(__always)
func loadFour(_ floats: UnsafePointer<Float>) -> Four {
  UnsafeRawPointer(floats).loadUnaligned(as: Four.self)
}

@_noLocks @_noAllocation @inline(__always)
func storeFour(_ value: Four, _ floats: Floats) {
  UnsafeMutableRawPointer(floats).storeBytes(of: value, as: Four.self)
}

// One rounding where the processor has the instruction; a slow library call where it has not.

/// sum + a · b
@_noLocks @_noAllocation @inline(__always)
func plus(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
  #if FMA
    return sum.addingProduct(a, b)
  #else
    return sum + a * b
  #endif
}

/// sum − a · b
@_noLocks @_noAllocation @inline(__always)
func minus(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
  #if FMA
    return sum.addingProduct(negative(a), b)
  #else
    return sum - a * b
  #endif
}

/// By the sign bit, which the compiler makes part of a multiplication; 0 − a it would not.
@_noLocks @_noAllocation @inline(__always)
func negative(_ a: Lanes) -> Lanes {
  unsafeBitCast(unsafeBitCast(a, to: Bits.self) ^ Bits(repeating: 0x8000_0000), to: Lanes.self)
}

/// a0 b0 a1 b1 …
@_noLocks @_noAllocation @inline(__always)
func zip4(_ a: Four, _ b: Four) -> (low: Four, high: Four) {
  (Four(a.x, b.x, a.y, b.y), Four(a.z, b.z, a.w, b.w))
}

/// Four sums of every fourth lane. By reinterpretation: halves by name are put together element by element, and the
/// compiler then adds them so, too.
@_noLocks @_noAllocation @inline(__always)
func four(_ v: Lanes) -> Four {
  #if LANES_16
    let halves = unsafeBitCast(v, to: (SIMD8<Float>, SIMD8<Float>).self)
    let quarters = unsafeBitCast(halves.0 + halves.1, to: (Four, Four).self)
    return quarters.0 + quarters.1
  #elseif LANES_8
    let halves = unsafeBitCast(v, to: (Four, Four).self)
    return halves.0 + halves.1
  #else
    return v
  #endif
}

@_noLocks @_noAllocation @inline(__always)
func total(_ a: Lanes) -> Float {
  let v = four(a)
  return (v.x + v.z) + (v.y + v.w)
}

@_noLocks @_noAllocation @inline(__always)
func backwards(_ v: Four) -> Four { Four(v.w, v.z, v.y, v.x) }

@_noLocks @_noAllocation @inline(__always)
func reversed(_ v: Lanes) -> Lanes {
  #if LANES_16
    return Lanes(
      lowHalf: SIMD8(lowHalf: backwards(v.highHalf.highHalf), highHalf: backwards(v.highHalf.lowHalf)),
      highHalf: SIMD8(lowHalf: backwards(v.lowHalf.highHalf), highHalf: backwards(v.lowHalf.lowHalf)))
  #elseif LANES_8
    return Lanes(lowHalf: backwards(v.highHalf), highHalf: backwards(v.lowHalf))
  #else
    return backwards(v)
  #endif
}
