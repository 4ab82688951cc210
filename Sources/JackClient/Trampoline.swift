import Glibc
import Realtime
import Synchronization

/// What JACK's process callback jumps to: finds the ports in force and runs their engine.
final class Trampoline: @unchecked Sendable {
  // Unchecked: `timeline` and `client` belong to the callback, once it runs; the rest is atomic, locked or immutable.

  /// Address of the `ArrayPorts` in force; 0 for none.
  private let ports = Atomic<UInt>(0)
  /// Callbacks that have returned.
  private let returned = Atomic<Int>(0)
  let isActive = Atomic<Bool>(false)
  let freewheeling = Atomic<Bool>(false)
  /// The server's.
  let sampleRate = Atomic<Int>(1)
  let outputs = Mutex<[PortHandle]>([])
  private let held = Mutex(Held())
  /// Callback only.
  private var timeline = Timeline(sampleRate: 1)
  private var client: OpaquePointer?
  /// Who wants to know how long the callback takes.
  private let times: CallbackTimes?

  /// What the callback may use. The callback never sees this lock.
  private struct Held {
    var current: ArrayPorts?
    /// What came before, and until when the callback may yet use it: a count of `returned`. `ClientHandle` keeps us, and
    /// so these, until libjack is through with the client.
    var retired: [(ports: ArrayPorts, until: Int)] = []
  }

  /// Engines that may wait for a callback that stands still.
  private static let mostRetired = 2

  init(times: CallbackTimes?) { self.times = times }

  /// Whose time is followed; before the first call, on the thread that opened the client.
  func follow(_ client: OpaquePointer, sampleRate: Int, counting: FrameCounting) {
    self.client = client
    self.sampleRate.store(sampleRate, ordering: .relaxed)
    timeline = Timeline(sampleRate: sampleRate, counting: counting)
  }

  // MARK: JACK's realtime thread

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
    let timing = timing(Int(frames))
    // Acquiring: what the control side built is there before we use it.
    if let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .acquiring)) {
      Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.process(frames, timing) }
    }
    returned.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks @_noAllocation
  private func timing(_ frames: Int) -> Timing {
    var before = RealtimeCalls.microseconds()
    guard let client, !freewheeling.load(ordering: .relaxed) else {
      timeline.forget()
      return Timing(microseconds: before)
    }
    timeline.sampleRate = sampleRate.load(ordering: .relaxed)
    var frameTime = RealtimeCalls.frameTime(client)
    var now = RealtimeCalls.microseconds()
    // The two must belong together: whoever stops us between them makes us read them again.
    var tries = 3
    while now &- before > 500, tries > 0 {
      before = now
      frameTime = RealtimeCalls.frameTime(client)
      now = RealtimeCalls.microseconds()
      tries &-= 1
    }
    return timeline.advance(frameTime: frameTime, microseconds: now, frames: frames)
  }

  /// In freewheel there is no deadline: wait for the disk thread rather than lose frames, 5 s at most.
  private func awaitRoom(_ frames: UInt32) {
    guard let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .acquiring)) else { return }
    let engine = Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.engine }
    for _ in 0..<10_000 where freewheeling.load(ordering: .relaxed) {
      if engine.hasRoomInTake(frames: Int(frames)), engine.hasPlayback(frames: Int(frames)) { return }
      usleep(500)
    }
  }

  // MARK: Any thread

  /// Callbacks so far; it stands still where the graph does. Never waits.
  var periodsRun: Int { returned.load(ordering: .relaxed) }

  /// Whether an engine can take over. Not so while the callback stands still with `mostRetired` that it may yet use.
  var canTakeOver: Bool {
    let done = returned.load(ordering: .acquiring)
    return held.withLock { $0.retired.count { $0.until > done } } < Self.mostRetired
  }

  /// From now on the callback uses `new`. What came before is kept until the callback has returned twice more: the call
  /// that runs now may have read the old address, the one after it has not. Not beside another call; never waits.
  func replace(with new: ArrayPorts) {
    ports.store(UInt(bitPattern: Unmanaged.passUnretained(new).toOpaque()), ordering: .releasing)
    let until = isActive.load(ordering: .acquiring) ? returned.load(ordering: .acquiring) + 2 : 0
    held.withLock { held in
      if let old = held.current { held.retired.append((old, until)) }
      held.current = new
    }
  }

  /// What the callback has let go of since the last call.
  func released() -> [ArrayPorts] {
    let done = returned.load(ordering: .acquiring)
    return held.withLock { held in
      let free = held.retired.filter { $0.until <= done }.map(\.ports)
      held.retired.removeAll { $0.until <= done }
      return free
    }
  }
}
