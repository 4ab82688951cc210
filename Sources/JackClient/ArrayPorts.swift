import CJack
import Realtime
import Synchronization

/// An engine with the ports that it reads and writes, as the process callback uses them. Immutable; a change of device
/// makes a new one.
///
/// Thread: any, except for `process`.
final class ArrayPorts: @unchecked Sendable {
  // Unchecked: only the callback uses `buffers`; the rest never changes.

  let engine: Engine
  let names: [String]
  let microphones: [OpaquePointer]
  private let callbackEngine: Unmanaged<Engine>
  private let count: Int
  private let ports: UnsafeMutablePointer<OpaquePointer>
  private let buffers: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let left: OpaquePointer
  private let right: OpaquePointer

  init(
    engine: Engine, names: [String], microphones: [OpaquePointer], left: OpaquePointer, right: OpaquePointer
  ) {
    self.engine = engine
    self.names = names
    self.microphones = microphones
    callbackEngine = .passUnretained(engine)
    self.left = left
    self.right = right
    count = microphones.count
    ports = .allocate(capacity: count)
    ports.initialize(from: microphones, count: count)
    buffers = .allocate(capacity: count)
    buffers.initialize(repeating: nil, count: count)
  }

  deinit {
    ports.deallocate()
    buffers.deallocate()
  }

  /// Thread: JACK's realtime thread.
  @_noLocks @_noAllocation
  func process(_ frames: UInt32, _ timing: Timing) {
    guard let leftBuffer = RealtimeCalls.buffer(left, frames),
      let rightBuffer = RealtimeCalls.buffer(right, frames)
    else { return }
    var n = 0
    while n < count {
      buffers[n] = UnsafePointer(RealtimeCalls.buffer(ports[n], frames))
      n &+= 1
    }
    let buffers = UnsafePointer(buffers)
    callbackEngine._withUnsafeGuaranteedRef {
      $0.process(
        Period(frames: Int(frames), inputs: buffers, left: leftBuffer, right: rightBuffer, timing: timing))
    }
  }
}
