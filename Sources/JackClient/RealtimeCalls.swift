import CJack
import CRealtime

/// Every call of the realtime path into C, but for those to the kernels (`KernelCalls`): the other escapes from the
/// compiler's realtime checks. None of these allocates or locks, by the documentation of JACK and of RealtimeSanitizer.
package enum RealtimeCalls {
  @_noLocks @_noAllocation
  package static func buffer(_ port: OpaquePointer, _ frames: UInt32) -> UnsafeMutablePointer<Float>? {
    _unsafePerformance { jack_port_get_buffer(port, frames)?.assumingMemoryBound(to: Float.self) }
  }

  /// Frame time of the first frame of this period.
  @_noLocks @_noAllocation
  package static func frameTime(_ client: OpaquePointer) -> UInt32 {
    _unsafePerformance { jack_last_frame_time(client) }
  }

  /// The monotonic clock.
  @_noLocks @_noAllocation
  package static func microseconds() -> Int { _unsafePerformance { Int(pinna_microseconds()) } }

  @_noLocks @_noAllocation
  package static func nanoseconds() -> Int { _unsafePerformance { Int(pinna_nanoseconds()) } }

  @_noLocks @_noAllocation
  package static func enter() { _unsafePerformance { pinna_realtime_enter() } }

  @_noLocks @_noAllocation
  package static func exit() { _unsafePerformance { pinna_realtime_exit() } }
}
