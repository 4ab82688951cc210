import CRealtime
import Synchronization
import Threads

/// How filters that follow the sound reach the callback, which plays them on `main` in place of the linear ones that were
/// chosen: the *base*. A worker reads the microphones here, and delivers sets of filters. The callback fades to the newest
/// one within 2.7 ms (128 frames at 48 kHz), as soon as no other fade is under way.
///
/// A set is heard only while its base is in force: a change of the user's goes from whatever sounds to the linear filters
/// of the new setting. Where nothing was delivered for 100 ms, the callback fades back to the base.
///
/// Two threads use it without waiting for each other: the callback and the worker. The worker, and the control side that
/// prepares for another period, share a lock.
public final class FilterStream: @unchecked Sendable {
  // Unchecked: `slots` pass from the worker to the callback and back (`hold`, `release`); the rest is described below.

  /// One plays, one is faded to, one waits, and one is being filled.
  private static let slotCount = 4

  /// Length of the fade to a set in frames: two hops of the analysis, which has 64 to 256 frames.
  ///
  /// Thread: any.
  static func fadeFrames(sampleRate: Double) -> Int {
    sampleRate <= 50_000 ? 128 : sampleRate <= 100_000 ? 256 : 512
  }

  public let microphones: Int
  public let taps: Int
  private let tap: MicrophoneTap
  private let sets: [FilterSet]
  /// The same for the callback, which counts no references. Written once.
  private let slots: UnsafeMutablePointer<Slot>
  /// The newest message to the callback: a slot's number plus 1, or -1 to return to the base; 0 if it has
  /// taken that.
  private let mailbox = Atomic<Int>(0)
  private let adapted = Atomic<Bool>(false)
  private let late = Atomic<Int>(0)
  private let layouts = Locked(Layouts())

  private struct Slot: ~Copyable {
    let filters: Unmanaged<FilterSet>
    /// The serial of the set that was in force when the filters were computed. Whoever holds the slot uses it.
    var base = 0
    /// Whether the callback has the slot, or may take it from the mailbox.
    let isHeld = Atomic<Bool>(false)
  }

  /// For each generation the convolver whose filters are transformed, by serial.
  private struct Layouts {
    var transforms: [(convolver: Int, transform: FilterTransform)?] = [nil, nil]
    /// Convolvers in use whose layout has a tail.
    var withTail: Set<Int> = []
  }

  /// Thread: control side.
  init(microphones: Int, taps: Int, sampleRate: Double) {
    self.microphones = microphones
    self.taps = taps
    tap = MicrophoneTap(
      microphones: microphones, capacity: MicrophoneTap.capacity(sampleRate: sampleRate))
    sets = (0..<Self.slotCount).map { _ in FilterSet(outputs: 2, microphones: microphones, taps: taps) }
    slots = .allocate(capacity: Self.slotCount)
    for (n, set) in sets.enumerated() { (slots + n).initialize(to: Slot(filters: .passUnretained(set))) }
  }

  deinit {
    slots.deinitialize(count: Self.slotCount)
    slots.deallocate()
  }

  // MARK: - Worker

  /// Lets the callback write microphones for `read`.
  ///
  /// Thread: worker.
  public func start() { tap.open() }

  /// Lets the callback write no more, and fade back to the base.
  ///
  /// Thread: worker.
  public func stop() {
    tap.close()
    returnToBase()
  }

  /// Reads the oldest frames of the microphones that have not been read, as the engine hears them: muted and faded.
  ///
  /// Thread: worker.
  /// - Parameter targets: one per microphone, each with room for `most` frames.
  /// - Returns: the frames read, and how many were lost just before the first of them, because the worker was late.
  public func read(into targets: UnsafePointer<UnsafeMutablePointer<Float>>, atMost most: Int) -> (
    frames: Int, lost: Int
  ) {
    tap.read(into: targets, atMost: most)
  }

  /// What follows from this many more frames has been delivered. In freewheel, the callback waits for that.
  ///
  /// Thread: worker.
  public func finished(frames: Int) { tap.finish(frames: frames) }

  /// Transforms filters, and offers them to the callback in place of those that it has not taken up yet.
  ///
  /// Thread: worker.
  /// - Parameters:
  ///   - base: the linear filters that they stand for. They are heard only while these are in force.
  ///   - coefficients: shape `[output][microphone][tap]`, with two outputs.
  /// - Returns: false if `canAdapt` is.
  @discardableResult
  public func deliver(base: FilterSet, coefficients: UnsafePointer<Float>) -> Bool {
    precondition(base.microphones == microphones && base.taps == taps)
    return layouts.withLock { layouts in
      guard layouts.withTail.isEmpty, let n = freeSlot() else { return false }
      sets[n].refill(coefficients)
      for (generation, entry) in layouts.transforms.enumerated() {
        if let entry { sets[n].prepare(entry.transform, generation: generation) }
      }
      slots[n].base = base.serial
      slots[n].isHeld.store(true, ordering: .relaxed)
      post(n + 1)
      return true
    }
  }

  /// Lets the callback fade back to the base, until the next set is delivered.
  ///
  /// Thread: worker.
  public func returnToBase() { post(-1) }

  /// Thread: worker.
  private func post(_ message: Int) {
    // Releasing: the callback sees the filters. Acquiring: what comes back, the callback never had.
    let old = mailbox.exchange(message, ordering: .acquiringAndReleasing)
    if old > 0 { release(old - 1) }
  }

  /// Thread: worker.
  private func freeSlot() -> Int? {
    // Acquiring: the callback reads it no more.
    (0..<Self.slotCount).first { !slots[$0].isHeld.load(ordering: .acquiring) }
  }

  // MARK: - Any thread

  /// Whether filters can follow the sound with periods in use: not where the convolver forms the tail of long filters
  /// ahead of time, which takes as long as they would be heard. That concerns filters of 32 periods or more.
  public var canAdapt: Bool { layouts.withLock { $0.withTail.isEmpty } }

  /// Whether the callback plays filters that were delivered, or fades from or to such ones.
  public var isAdapted: Bool { adapted.load(ordering: .relaxed) }

  /// Whether the callback writes microphones for the worker.
  public var isTapped: Bool { tap.isTapped }

  /// Whether the worker has finished with all periods so far, or does not read.
  public var isCaughtUp: Bool { tap.isCaughtUp }

  /// Frames of the microphones that were lost because the worker was late.
  public var lostFrames: Int { tap.lostFrames }

  /// How often the callback faded back to the base because nothing was delivered for 100 ms.
  var lateAdaptations: Int { late.load(ordering: .relaxed) }

  /// Sets of filters that neither the callback nor the mailbox holds: for tests.
  package var freeSlots: Int { (0..<Self.slotCount).count { !slots[$0].isHeld.load(ordering: .acquiring) } }

  // MARK: - Control side

  /// Prepares all sets for a convolver, before the callback knows it.
  ///
  /// Thread: control side.
  func prepare(_ convolver: Convolver) {
    layouts.withLock { layouts in
      let generation = convolver.generation
      if convolver.layout.blocks > 0 {
        layouts.transforms[generation] = nil
        layouts.withTail.insert(convolver.serial)
        return
      }
      let transform = FilterTransform(convolver.layout)
      layouts.transforms[generation] = (convolver.serial, transform)
      // With those that the callback plays: it goes on with them in the new period.
      for set in sets { set.prepare(transform, generation: generation) }
    }
  }

  /// The callback no longer uses this convolver, or never will.
  ///
  /// Thread: control side.
  func forget(convolver serial: Int) {
    layouts.withLock { layouts in
      layouts.withTail.remove(serial)
      for generation in 0..<2 where layouts.transforms[generation]?.convolver == serial {
        layouts.transforms[generation] = nil
      }
    }
  }

  // MARK: - Realtime thread

  /// The microphones' ring buffer is written to only while somebody reads it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func append(_ frames: Int, of history: Unmanaged<InputHistory>) {
    guard tap.isTapped else { return }
    tap.append(frames, of: history._withUnsafeGuaranteedRef { UnsafePointer($0.storage) })
  }

  /// What the worker has asked for since the last call.
  enum Message: BitwiseCopyable {
    case none
    case adopt(slot: Int)
    case returnToBase
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func takeMessage() -> Message {
    if mailbox.load(ordering: .relaxed) == 0 { return .none }
    // Acquiring: the filters are visible.
    let message = mailbox.exchange(0, ordering: .acquiring)
    if message == 0 { return .none }
    return message < 0 ? .returnToBase : .adopt(slot: message &- 1)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func filters(ofSlot n: Int) -> Unmanaged<FilterSet> { slots[n].filters }

  /// The serial of the set that a slot's filters stand for.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func base(ofSlot n: Int) -> Int { slots[n].base }

  /// Gives a slot back.
  ///
  /// Thread: JACK's realtime thread (process callback), or the worker's for what the callback never had.
  @_noLocks @_noAllocation
  func release(_ n: Int) {
    // Releasing: the last read is over before the worker fills the slot again.
    slots[n].isHeld.store(false, ordering: .releasing)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func setAdapted(_ isAdapted: Bool) { adapted.store(isAdapted, ordering: .relaxed) }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func countLate() { late.wrappingAdd(1, ordering: .relaxed) }
}
