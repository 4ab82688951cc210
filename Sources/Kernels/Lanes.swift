import CRealtime

// SIMD vectors and their arithmetic. The kernels are compiled once per instruction set and vector length.
//
//   Lanes    | 0 | 1 | 2 | … |     4 floats (baseline, arm64), 8 (LANES_8: AVX2) or 16 (LANES_16: AVX-512)
//   REGISTERS_32: with AVX-512 and on arm64 there are 32 vector registers, else 16
//   complex  | re lanes | im lanes |     two vectors, side by side in memory (split complex)
//
// Thread: any; pure functions, and access to memory that the caller owns.

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

// More specific than Swift's own operators, which compute element by element (lanes.h).

@_noLocks @_noAllocation @inline(__always)
func + (a: Lanes, b: Lanes) -> Lanes { pinna_add(a, b) }
@_noLocks @_noAllocation @inline(__always)
func - (a: Lanes, b: Lanes) -> Lanes { pinna_subtract(a, b) }
@_noLocks @_noAllocation @inline(__always)
func * (a: Lanes, b: Lanes) -> Lanes { pinna_multiply(a, b) }
@_noLocks @_noAllocation @inline(__always)
func += (a: inout Lanes, b: Lanes) { a = pinna_add(a, b) }
@_noLocks @_noAllocation @inline(__always)
prefix func - (a: Lanes) -> Lanes { pinna_negate(a) }

/// sum + a · b
@_noLocks @_noAllocation @inline(__always)
func multiplyAdd(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes { pinna_multiply_add(sum, a, b) }

/// sum − a · b
@_noLocks @_noAllocation @inline(__always)
func multiplySubtract(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
  pinna_multiply_add(sum, -a, b)
}

@_noLocks @_noAllocation @inline(__always)
func sumOfLanes(_ a: Lanes) -> Float {
  let v = pinna_fold_to_four(a)
  return (v.x + v.z) + (v.y + v.w)
}
