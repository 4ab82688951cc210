import CRealtime

/// Calls into the kernels through function pointers. The compiler cannot check these, so they are escapes from its
/// realtime checks. The kernels themselves are checked where they are defined (`Sources/Kernels`).
struct KernelCalls {
  private let table: pinna_kernels

  /// Thread: any.
  init(_ table: pinna_kernels) { self.table = table }

  /// Thread: any.
  var lanes: Int { table.lanes }

  /// Computes the spectra of the period that ended `age` frames before the newest. With a negative `age`, only advances
  /// the window, by the period that ended `-1 - age` frames before the newest.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side before the callback knows the convolver.
  @_noLocks @_noAllocation
  func analyse(
    _ convolver: UnsafeMutablePointer<pinna_convolver>, _ history: UnsafePointer<pinna_history>, age: Int
  ) {
    _unsafePerformance { table.analyse(convolver, history, age) }
  }

  /// Computes one period of output for one or two voices. For a voice without output buffers,
  /// only what later periods need is computed.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side before the callback knows the convolver.
  @_noLocks @_noAllocation
  func synthesise(
    _ convolver: UnsafeMutablePointer<pinna_convolver>, _ voices: UnsafeMutablePointer<pinna_voice>,
    count: Int
  ) {
    _unsafePerformance { table.synthesise(convolver, voices, count) }
  }

  /// Copies samples, and adds their measures to `measure`. Without a target it only measures.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func copyAndMeasure(
    _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>?, _ count: Int,
    _ measure: UnsafeMutablePointer<pinna_measure>
  ) {
    _unsafePerformance { table.copyAndMeasure(from, to, count, measure) }
  }
}
