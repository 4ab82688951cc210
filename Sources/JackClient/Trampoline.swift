import Glibc
import Realtime
import Synchronization

/// The context of JACK's process callback: finds the current ports and runs their engine.
///
/// Thread: as stated by the MARK above each group of functions.
final class Trampoline: @unchecked Sendable {
  // Unchecked: once the callback runs, only it uses `timeline`, `client` and `midiPort`; the rest is atomic, locked or immutable.

  /// Address of the current `ArrayPorts`; 0 for none.
  private let ports = Atomic<UInt>(0)
  /// Number of callbacks that have begun.
  private let entered = Atomic<Int>(0)
  /// Number of callbacks that have returned.
  private let returned = Atomic<Int>(0)
  let isActive = Atomic<Bool>(false)
  let freewheeling = Atomic<Bool>(false)
  /// How often the server went over to freewheel, or back.
  let freewheelChanges = Atomic<Int>(0)
  /// Number of times that the server ran periods without calling Pinna.
  private let missed = Atomic<Int>(0)
  let outputs = Mutex<[PortHandle]>([])
  private let retained = Mutex(Retained())
  /// Callback only, as are `client` and `midiPort`.
  private var timeline = Timeline(sampleRate: 1)
  private var client: OpaquePointer?
  /// Callback only. Nil before `listen`.
  private var midiPort: OpaquePointer?
  private let midi = MIDIQueue()
  /// Records the duration of each callback, if wanted.
  private let times: CallbackTimes?

  /// The ports that the callback may use, kept alive here. The callback never takes this lock.
  private struct Retained {
    var current: ArrayPorts?
    /// Replaced ports, and the value of `returned` from which the callback no longer uses them. `ClientHandle` retains
    /// this trampoline, and so the ports, until libjack has finished with the client.
    var retired: [(ports: ArrayPorts, until: Int)] = []
  }

  /// Limit on replaced engines that a stalled callback may still use.
  private static let maxRetired = 2

  init(times: CallbackTimes?) { self.times = times }

  /// Sets the client whose frame time the timeline follows.
  ///
  /// Thread: the one that opened the client, before the first callback.
  func follow(_ client: OpaquePointer, sampleRate: Int, counting: FrameCounting) {
    self.client = client
    timeline = Timeline(sampleRate: sampleRate, counting: counting)
  }

  /// Sets the port that MIDI messages come from.
  ///
  /// Thread: the one that opened the client, before the first callback.
  func listen(to port: OpaquePointer) { midiPort = port }

  // MARK: JACK's realtime thread

  /// The body of the process callback.
  func run(_ frames: UInt32) {
    // Before `ports` is read: see `freeEngines`.
    entered.wrappingAdd(1, ordering: .sequentiallyConsistent)
    if freewheeling.load(ordering: .relaxed) { waitForOtherThreads(frames) }
    RealtimeCalls.enter()
    let start = times == nil ? 0 : RealtimeCalls.nanoseconds()
    process(frames)
    times?.note(RealtimeCalls.nanoseconds() &- start)
    RealtimeCalls.exit()
  }

  @_noLocks @_noAllocation
  private func process(_ frames: UInt32) {
    let timing = timing(Int(frames))
    if let midiPort { midi.read(midiPort, frames) }
    // Pairs with the releasing store in `replace`, so that the ports are completely initialised.
    if let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .sequentiallyConsistent)) {
      Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.process(frames, timing) }
    }
    returned.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks @_noAllocation
  private func timing(_ frames: Int) -> Timing {
    guard let client else { return Timing(microseconds: RealtimeCalls.microseconds()) }
    let sampleRate = RealtimeCalls.sampleRate(client)
    if sampleRate > 0, sampleRate != timeline.sampleRate {
      timeline.sampleRate = sampleRate
      timeline.forget()
    }
    var timing = timing(frames, of: client)
    timing.sampleRate = sampleRate
    timing.transport = RealtimeCalls.transport(client)
    if timing.skippedFrames > 0 { missed.wrappingAdd(1, ordering: .relaxed) }
    return timing
  }

  @_noLocks @_noAllocation
  private func timing(_ frames: Int, of client: OpaquePointer) -> Timing {
    let isFreewheeling = freewheeling.load(ordering: .relaxed)
    var before = RealtimeCalls.microseconds()
    var frameTime = RealtimeCalls.frameTime(client)
    var now = RealtimeCalls.microseconds()
    // The two readings must be simultaneous: read them again if the thread was preempted in between.
    var tries = 3
    while now &- before > 500, tries > 0 {
      before = now
      frameTime = RealtimeCalls.frameTime(client)
      now = RealtimeCalls.microseconds()
      tries &-= 1
    }
    return timeline.advance(
      frameTime: frameTime, microseconds: now, frames: frames, start: RealtimeCalls.periodStart(client),
      isFreewheeling: isFreewheeling)
  }

  /// In freewheel mode there is no deadline: waits for the disk thread, 5 s at most, rather than lose frames; and for
  /// filters that follow the sound, so that they are the same in every run.
  private func waitForOtherThreads(_ frames: UInt32) {
    guard let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .sequentiallyConsistent)) else {
      return
    }
    let engine = Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.engine }
    var microseconds: UInt32 = 0
    while microseconds < 5_000_000, freewheeling.load(ordering: .relaxed) {
      if engine.hasRoomInTake(frames: Int(frames)), engine.hasPlayback(frames: Int(frames)),
        engine.isAdaptationCaughtUp
      {
        return
      }
      // Filters that follow the sound take a fraction of a millisecond, in every period.
      let pause: UInt32 = microseconds < 5000 ? 50 : 500
      usleep(pause)
      microseconds += pause
    }
  }

  // MARK: Any thread

  /// MIDI messages since the last call, oldest first. Never waits. Control thread only.
  func drainMIDI() -> [MIDIMessage] { midi.drain() }

  /// Number of callbacks so far; constant while the graph is stalled. Never waits.
  var periodsRun: Int { returned.load(ordering: .relaxed) }

  /// Number of times that the server ran periods without calling Pinna. Never waits.
  var missedPeriods: Int { missed.load(ordering: .relaxed) }

  /// Whether another engine can take over. False while a stalled callback may still use `maxRetired` replaced engines.
  var canReplace: Bool {
    let done = returned.load(ordering: .acquiring)
    return retained.withLock { $0.retired.count { $0.until > done } } < Self.maxRetired
  }

  /// The short names of all replaced ports that `released` has not returned yet.
  var retiredNames: Set<String> {
    retained.withLock { Set($0.retired.flatMap { $0.ports.named.map(\.name) }) }
  }

  /// Those ports.
  var retiredPorts: [PortHandle] {
    retained.withLock { $0.retired.flatMap { $0.ports.named.map { PortHandle($0.port) } } }
  }

  /// Makes the callback use `new`. The previous ports are kept until the callback has returned twice more: the current
  /// call may have read the old address, the next one cannot have. Calls must not overlap; never waits.
  func replace(with new: ArrayPorts) {
    ports.store(UInt(bitPattern: Unmanaged.passUnretained(new).toOpaque()), ordering: .releasing)
    let until = isActive.load(ordering: .acquiring) ? returned.load(ordering: .acquiring) + 2 : 0
    retained.withLock { retained in
      if let old = retained.current { retained.retired.append((old, until)) }
      retained.current = new
    }
  }

  /// Frees all engines after the client's end; libjack may call once more all the same, and then nothing plays. Does
  /// nothing while the callback is inside one: then they stay.
  func freeEngines() {
    ports.store(0, ordering: .sequentiallyConsistent)
    // A callback that begins after this reading finds no ports; of those before it, none is still running.
    let begun = entered.load(ordering: .sequentiallyConsistent)
    guard returned.load(ordering: .acquiring) == begun else { return }
    retained.withLock { $0 = Retained() }
  }

  /// Removes and returns the replaced ports that the callback no longer uses.
  func released() -> [ArrayPorts] {
    let done = returned.load(ordering: .acquiring)
    return retained.withLock { retained in
      let free = retained.retired.filter { $0.until <= done }.map(\.ports)
      retained.retired.removeAll { $0.until <= done }
      return free
    }
  }
}
