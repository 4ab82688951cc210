import Synchronization

/// Positions of a bounded queue with one producer and one consumer; the elements stand in the owner's memory.
///
/// The producer releases `head` after it wrote an element, the consumer acquires it before it reads; `tail`
/// goes the other way. Both only grow.
struct RingCursor: ~Copyable, Sendable {
  private let head = Atomic<Int>(0)
  private let tail = Atomic<Int>(0)
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Producer: how many elements fit.
  @_noLocks @_noAllocation
  func free() -> Int { capacity &- (head.load(ordering: .relaxed) &- tail.load(ordering: .acquiring)) }

  /// Consumer: how many elements wait.
  @_noLocks @_noAllocation
  func waiting() -> Int { head.load(ordering: .acquiring) &- tail.load(ordering: .relaxed) }

  /// Producer: where the next element goes.
  @_noLocks @_noAllocation
  func writeIndex() -> Int { head.load(ordering: .relaxed) % capacity }

  /// Consumer: where the oldest element stands.
  @_noLocks @_noAllocation
  func readIndex() -> Int { tail.load(ordering: .relaxed) % capacity }

  @_noLocks @_noAllocation
  func produced(_ count: Int) { head.store(head.load(ordering: .relaxed) &+ count, ordering: .releasing) }

  @_noLocks @_noAllocation
  func consumed(_ count: Int) { tail.store(tail.load(ordering: .relaxed) &+ count, ordering: .releasing) }
}
