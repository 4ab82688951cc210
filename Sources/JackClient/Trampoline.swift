import Glibc
import Realtime
import Synchronization

/// What JACK's process callback jumps to: finds the ports in force and runs their engine.
final class Trampoline: @unchecked Sendable {
  // Unchecked: `current` belongs to the control thread that calls `replace`, `timeline` to the callback; the callback
  // reads `ports`.

  /// Address of the `ArrayPorts` in force; 0 for none.
  private let ports = Atomic<UInt>(0)
  /// Calls so far; two more and nothing old is in use.
  private let calls = Atomic<Int>(0)
  let active = Atomic<Bool>(false)
  let freewheeling = Atomic<Bool>(false)
  let outputs = Mutex<[PortHandle]>([])
  private let held = Mutex(Held())
  /// Callback only.
  private var timeline = Timeline(sampleRate: 1)
  private var client: OpaquePointer?
  /// Who wants to know how long the callback takes.
  private let times: CallbackTimes?
  init(times: CallbackTimes?) { self.times = times }

  /// Whose time is followed; before the first call.
  func follow(_ client: OpaquePointer, sampleRate: Int) {
    self.client = client
    timeline = Timeline(sampleRate: sampleRate)
  }

  /// JACK's realtime thread.
  func run(_ frames: UInt32) {
    if freewheeling.load(ordering: .relaxed) { awaitRoom(frames) }
    RealtimeCalls.enter()
    let start = times == nil ? 0 : RealtimeCalls.nanoseconds()
    process(frames)
    times?.note(RealtimeCalls.nanoseconds() &- start)
    RealtimeCalls.exit()
  }

  @_noLocks @_noAllocation
  private func process(_ frames: UInt32) {
    var timing = Timing(microseconds: RealtimeCalls.microseconds())
    if freewheeling.load(ordering: .relaxed) {
      timeline.forget()
    } else if let client {
      timing = timeline.advance(
        frameTime: RealtimeCalls.frameTime(client), microseconds: timing.microseconds, frames: Int(frames))
    }
    // Acquiring: what the control thread built is there before we use it.
    if let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .acquiring)) {
      Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.process(frames, timing) }
    }
    calls.wrappingAdd(1, ordering: .releasing)
  }

  /// In freewheel there is no deadline: wait for the disk thread rather than lose frames.
  private func awaitRoom(_ frames: UInt32) {
    guard let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .acquiring)) else { return }
    let engine = Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.engine }
    for _ in 0..<10_000 where freewheeling.load(ordering: .relaxed) {
      if engine.hasRoomInTake(frames: Int(frames)), engine.hasPlayback(frames: Int(frames)) { return }
      usleep(500)
    }
  }

  /// From now on the callback uses `new`; what came before is kept until the callback cannot use it any more. Never waits.
  ///
  /// Thread: control.
  func replace(with new: ArrayPorts) {
    ports.store(UInt(bitPattern: Unmanaged.passUnretained(new).toOpaque()), ordering: .releasing)
    held.withLock { held in
      if let old = held.current, active.load(ordering: .acquiring) {
        held.retired.append((old, calls.load(ordering: .acquiring) + 2))
      }
      held.current = new
    }
  }

  /// What the callback has let go of since the last call: two calls after it was replaced.
  ///
  /// Thread: any but the callback's.
  func released() -> [ArrayPorts] {
    let now = calls.load(ordering: .acquiring)
    return held.withLock { held in
      let free = held.retired.filter { $0.free <= now }.map(\.ports)
      held.retired.removeAll { $0.free <= now }
      return free
    }
  }

  var callCount: Int { calls.load(ordering: .relaxed) }

  private struct Held {
    var current: ArrayPorts?
    /// What a callback that stands still may yet use, and the call after which it does not.
    var retired: [(ports: ArrayPorts, free: Int)] = []
  }
}
