import CRealtime

/// The calls into the kernels, through pointers that the compiler cannot look behind: escapes from its realtime
/// checks. What they point to is held to the same checks where it is defined (`Sources/Kernels`).
struct KernelCalls {
  private let table: pinna_kernels

  init(_ table: pinna_kernels) { self.table = table }

  var lanes: Int { table.lanes }

  /// Spectra of the period that ends `age` frames before the newest; a negative `age` only moves the window on, by the
  /// period that ends -1 - age frames before the newest.
  @_noLocks @_noAllocation
  func analyse(
    _ convolver: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, age: Int
  ) {
    _unsafePerformance { table.analyse(convolver, history, age) }
  }

  /// Outputs of one voice or two.
  @_noLocks @_noAllocation
  func synthesise(
    _ convolver: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>,
    count: Int
  ) {
    _unsafePerformance { table.synthesise(convolver, voices, count) }
  }

  /// Copies sound, zeroes what is none, and adds to `measure`; without a target it measures only.
  @_noLocks @_noAllocation
  func take(
    _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>?, _ count: Int,
    _ measure: UnsafeMutablePointer<pinna_measure>
  ) {
    _unsafePerformance { table.take(from, to, count, measure) }
  }
}
