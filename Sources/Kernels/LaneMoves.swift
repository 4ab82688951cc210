import CRealtime

// Moves between lanes, of four vectors. Each step is a function of lanes.h of its own: where one function did several, LLVM
// specialised their common part for every result, and computed it four times.
//
// Thread: any; pure functions.

typealias FourVectors = (Lanes, Lanes, Lanes, Lanes)

/// Transposed in groups of four lanes: vector i has element i of each group of a, b, c and d.
@_noLocks @_noAllocation @inline(__always)
func transposed(_ a: Lanes, _ b: Lanes, _ c: Lanes, _ d: Lanes) -> FourVectors {
  let (ab, cd) = (pinna_low(a, b), pinna_low(c, d))
  let (abHigh, cdHigh) = (pinna_high(a, b), pinna_high(c, d))
  return pairs(ab, cd, abHigh, cdHigh)
}

/// In groups of four lanes: the first group of a, b, c and d, then the second, and so on.
@_noLocks @_noAllocation @inline(__always)
func inFours(_ a: Lanes, _ b: Lanes, _ c: Lanes, _ d: Lanes) -> FourVectors {
  #if LANES_16
    let (ab, cd) = (pinna_halves_low(a, b), pinna_halves_low(c, d))
    let (abHigh, cdHigh) = (pinna_halves_high(a, b), pinna_halves_high(c, d))
    return (
      pinna_fours_low(ab, cd), pinna_fours_high(ab, cd), pinna_fours_low(abHigh, cdHigh),
      pinna_fours_high(abHigh, cdHigh)
    )
  #elseif LANES_8
    return (pinna_fours_low(a, b), pinna_fours_low(c, d), pinna_fours_high(a, b), pinna_fours_high(c, d))
  #else
    return (a, b, c, d)
  #endif
}

/// The elements of each lane side by side: those of a, b, c and d in the first lane, then those in the second, and so on.
@_noLocks @_noAllocation @inline(__always)
func sideBySide(_ a: Lanes, _ b: Lanes, _ c: Lanes, _ d: Lanes) -> FourVectors {
  #if LANES_16
    // Two moves per vector; by way of groups of four lanes it would be four.
    let (ab, cd) = (pinna_zip_low(a, b), pinna_zip_low(c, d))
    let (abHigh, cdHigh) = (pinna_zip_high(a, b), pinna_zip_high(c, d))
    return pairs(ab, cd, abHigh, cdHigh)
  #else
    let groups = transposed(a, b, c, d)
    return inFours(groups.0, groups.1, groups.2, groups.3)
  #endif
}

/// The last step of both: pairs of elements of `ab` and `cd`, then of `abHigh` and `cdHigh`.
@_noLocks @_noAllocation @inline(__always)
private func pairs(_ ab: Lanes, _ cd: Lanes, _ abHigh: Lanes, _ cdHigh: Lanes) -> FourVectors {
  (
    pinna_pairs_low(ab, cd), pinna_pairs_high(ab, cd), pinna_pairs_low(abHigh, cdHigh),
    pinna_pairs_high(abHigh, cdHigh)
  )
}
