import CRealtime
import Glibc

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

  /// Frames that `addDirectly` computes at a time.
  ///
  /// Thread: any.
  var directFrames: Int {
    @_noLocks @_noAllocation get { 4 &* table.lanes }
  }

  /// Adds one microphone's share of a pair of outputs, term by term.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - signal: the first of `frames`, with `taps` - 1 others before it.
  ///   - frames: a multiple of `directFrames`.
  ///   - left, right: `[tap]`.
  @_noLocks @_noAllocation
  func addDirectly(
    _ signal: UnsafePointer<Float>, frames: Int, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
    taps: Int, to sums: OutputPair
  ) {
    _unsafePerformance { table.addDirectly(signal, frames, left, right, taps, sums.left, sums.right) }
  }
}

/// Calls that neither allocate nor lock, into the mathematical library and CRealtime: escapes from the compiler's realtime
/// checks, too.
package enum ProcessorCalls {
  /// Thread: any.
  @_noLocks @_noAllocation
  static func tangent(_ x: Double) -> Double { _unsafePerformance { tan(x) } }

  /// The amplitude ratio: 6 dB is 1.995.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  package static func amplitude(decibels: Double) -> Double { _unsafePerformance { pow(10, decibels / 20) } }

  /// The level of an amplitude, in decibels.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  package static func decibels(amplitude: Double) -> Double { _unsafePerformance { 20 * log10(amplitude) } }

  /// Makes the calling thread treat denormals as zero.
  ///
  /// Thread: any.
  /// - Returns: its mode before, for `restore`.
  @_noLocks @_noAllocation
  package static func flushDenormals() -> UInt64 {
    _unsafePerformance {
      let mode = pinna_floating_point_mode()
      pinna_flush_denormals()
      return mode
    }
  }

  /// Thread: any.
  @_noLocks @_noAllocation
  package static func restore(_ mode: UInt64) { _unsafePerformance { pinna_set_floating_point_mode(mode) } }

  /// Enters and leaves RealtimeSanitizer's realtime context; no-ops in other builds.
  ///
  /// Thread: JACK's realtime thread (process callback), or a plug-in's in its place.
  @_noLocks @_noAllocation
  package static func enter() { _unsafePerformance { pinna_realtime_enter() } }

  /// Thread: as above.
  @_noLocks @_noAllocation
  package static func exit() { _unsafePerformance { pinna_realtime_exit() } }
}
