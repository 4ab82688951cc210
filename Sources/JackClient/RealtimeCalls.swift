import CJack
import CRealtime
import Realtime

/// All calls from the realtime path into C except those to the kernels (`KernelCalls`). Only these two files bypass the
/// compiler's realtime checks. According to the documentation of JACK and RealtimeSanitizer, none of these functions
/// allocates or locks.
///
/// Thread: JACK's realtime thread.
package enum RealtimeCalls {
  /// The samples of a port in this period; nil if JACK provides none.
  @_noLocks @_noAllocation
  package static func buffer(_ port: OpaquePointer, _ frames: UInt32) -> UnsafeMutablePointer<Float>? {
    _unsafePerformance { jack_port_get_buffer(port, frames)?.assumingMemoryBound(to: Float.self) }
  }

  /// The events of a MIDI port in this period; nil if JACK provides none. Each call merges the events of all peers
  /// anew.
  @_noLocks @_noAllocation
  package static func midiBuffer(_ port: OpaquePointer, _ frames: UInt32) -> UnsafeMutableRawPointer? {
    _unsafePerformance { jack_port_get_buffer(port, frames) }
  }

  /// Number of events in a MIDI port's buffer.
  @_noLocks @_noAllocation
  package static func midiEventCount(_ buffer: UnsafeMutableRawPointer) -> UInt32 {
    _unsafePerformance { jack_midi_get_event_count(buffer) }
  }

  /// An event of a MIDI port's buffer.
  @_noLocks @_noAllocation
  package static func midiEvent(_ buffer: UnsafeMutableRawPointer, at index: UInt32) -> pinna_midi_event {
    _unsafePerformance { pinna_jack_midi_event(buffer, index) }
  }

  /// Frame time of the first frame of this period.
  @_noLocks @_noAllocation
  package static func frameTime(_ client: OpaquePointer) -> UInt32 {
    _unsafePerformance { jack_last_frame_time(client) }
  }

  /// When the server began this period, in microseconds of the monotonic clock; nil if it does not say.
  @_noLocks @_noAllocation
  package static func periodStart(_ client: OpaquePointer) -> Int? {
    var (frames, start, end, length): (UInt32, UInt64, UInt64, Float) = (0, 0, 0, 0)
    let status = _unsafePerformance { jack_get_cycle_times(client, &frames, &start, &end, &length) }
    return status == 0 ? Int(truncatingIfNeeded: start) : nil
  }

  /// The server's sample rate, in hertz; 0 if it is closing.
  @_noLocks @_noAllocation
  package static func sampleRate(_ client: OpaquePointer) -> Int {
    _unsafePerformance { Int(jack_get_sample_rate(client)) }
  }

  /// The transport at the first frame of this period.
  @_noLocks @_noAllocation
  package static func transport(_ client: OpaquePointer) -> Transport {
    let frame = _unsafePerformance { pinna_jack_transport_frame(client) }
    return frame >= 0 ? Transport(isRolling: true, frame: frame) : Transport(frame: ~frame)
  }

  /// Time of the monotonic clock.
  @_noLocks @_noAllocation
  package static func microseconds() -> Int { _unsafePerformance { Int(pinna_microseconds()) } }

  @_noLocks @_noAllocation
  package static func nanoseconds() -> Int { _unsafePerformance { Int(pinna_nanoseconds()) } }

  /// Enters and leaves RealtimeSanitizer's realtime context; no-ops in other builds.
  @_noLocks @_noAllocation
  package static func enter() { _unsafePerformance { pinna_realtime_enter() } }

  @_noLocks @_noAllocation
  package static func exit() { _unsafePerformance { pinna_realtime_exit() } }
}
