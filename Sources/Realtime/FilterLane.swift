import CRealtime
import Synchronization
import Threads

/// The filters that follow the sound of one feed, on their way to the callback. It fades to the newest set within 2.7 ms
/// (128 frames at 48 kHz), as soon as no other fade of the feed is under way.
///
/// A set is heard only while its base is in force, or one of the same lineage: a change of the user's goes from whatever
/// sounds to the linear filters of the new setting; a turned setting keeps what sounds until a newer set comes. Where nothing
/// was delivered for 100 ms, the callback fades back to the base.
final class FilterLane: @unchecked Sendable {
  // Unchecked: `slots` pass from the worker to the callback and back (`isHeld`, `release`). The worker and the control side
  // call under the lock of `FilterStream`.

  /// A convolver in use, by its serial, and the transform for its layout.
  typealias Generation = (convolver: Int, transform: FilterTransform)

  /// One plays, one is faded to, one waits, and one is being filled.
  private static let slotCount = 4

  private let outputs: Int
  private let microphones: Int
  private let taps: Int
  /// Empty until something is delivered. Under the lock.
  private var sets: [FilterSet] = []
  /// The same for the callback, which counts no references and hears of a slot only when it is filled. Written once.
  private let slots: UnsafeMutablePointer<Slot>
  /// The newest message to the callback: a slot's number plus 1, or -1 to return to the base; 0 if it has
  /// taken that.
  private let mailbox = Atomic<Int>(0)
  private let adapted = Atomic<Bool>(false)
  private let late = Atomic<Int>(0)

  private struct Slot: ~Copyable {
    var filters: Unmanaged<FilterSet>?
    /// The serial of the set that was in force when the filters were computed. Whoever holds the slot uses it.
    var base = 0
    /// That of the setting that they were computed for.
    var lineage = 0
    /// Whether the callback has the slot, or may take it from the mailbox.
    let isHeld = Atomic<Bool>(false)
  }

  /// Thread: control side.
  init(outputs: Int, microphones: Int, taps: Int) {
    (self.outputs, self.microphones, self.taps) = (outputs, microphones, taps)
    slots = .allocate(capacity: Self.slotCount)
    for n in 0..<Self.slotCount { (slots + n).initialize(to: Slot()) }
  }

  /// Thread: worker.
  private func makeSets() {
    for n in 0..<Self.slotCount {
      let set = FilterSet(outputs: outputs, microphones: microphones, taps: taps)
      sets.append(set)
      slots[n].filters = .passUnretained(set)
    }
  }

  deinit {
    slots.deinitialize(count: Self.slotCount)
    slots.deallocate()
  }

  // MARK: - Worker

  /// Transforms filters, and offers them in place of those that were not taken up yet.
  ///
  /// Thread: worker.
  /// - Parameter generations: nil for one that is not in use.
  /// - Returns: false if the callback holds all slots, or the base has other outputs.
  func deliver(
    base: FilterSet, lineage: Int, _ coefficients: UnsafePointer<Float>, _ generations: [Generation?]
  ) -> Bool {
    // Acquiring: the callback reads it no more.
    guard base.outputs == outputs || base.outputs == 1,
      let n = (0..<Self.slotCount).first(where: { !slots[$0].isHeld.load(ordering: .acquiring) })
    else { return false }
    if sets.isEmpty { makeSets() }
    sets[n].refill(coefficients, outputs: base.outputs)
    for (number, generation) in generations.enumerated() {
      if let generation { sets[n].prepare(generation.transform, generation: number) }
    }
    (slots[n].base, slots[n].lineage) = (base.serial, lineage)
    slots[n].isHeld.store(true, ordering: .relaxed)
    post(n + 1)
    return true
  }

  /// Lets the callback fade back to the base, until the next set is delivered.
  ///
  /// Thread: worker.
  func returnToBase() { post(-1) }

  /// Thread: worker.
  private func post(_ message: Int) {
    // Releasing: the callback sees the filters. Acquiring: what comes back, the callback never had.
    let old = mailbox.exchange(message, ordering: .acquiringAndReleasing)
    if old > 0 { release(old - 1) }
  }

  // MARK: - Any thread

  var isAdapted: Bool { adapted.load(ordering: .relaxed) }

  var lateAdaptations: Int { late.load(ordering: .relaxed) }

  /// Sets of filters that neither the callback nor the mailbox holds: for tests.
  var freeSlots: Int { (0..<Self.slotCount).count { !slots[$0].isHeld.load(ordering: .acquiring) } }

  // MARK: - Control side

  /// Prepares all sets for a convolver, before the callback knows it. A lane that nobody has delivered to needs none.
  ///
  /// Thread: control side.
  func prepare(_ transform: FilterTransform, generation: Int) {
    for set in sets { set.prepare(transform, generation: generation) }
  }

  // MARK: - Realtime thread

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
  func filters(ofSlot n: Int) -> Unmanaged<FilterSet>? { slots[n].filters }

  /// The serial of the set that a slot's filters stand for.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func base(ofSlot n: Int) -> Int { slots[n].base }

  /// The lineage of the setting that a slot's filters stand for.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func lineage(ofSlot n: Int) -> Int { slots[n].lineage }

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
