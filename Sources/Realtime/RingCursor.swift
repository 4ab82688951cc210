import Synchronization

/// Read and write positions of a single-producer, single-consumer ring buffer. The owner holds the elements.
///
/// The producer stores `head` with release ordering after it wrote an element; the consumer loads it with acquire
/// ordering before it reads. `tail` works the same way in the other direction. Both only grow.
package struct RingCursor: ~Copyable, Sendable {
  private let head = Atomic<Int>(0)
  private let tail = Atomic<Int>(0)
  private let capacity: Int

  /// Thread: any.
  package init(capacity: Int) { self.capacity = capacity }

  /// Elements that fit.
  ///
  /// Thread: producer. On any other thread it is an estimate.
  @_noLocks @_noAllocation
  package func freeCount() -> Int {
    capacity &- (head.load(ordering: .relaxed) &- tail.load(ordering: .acquiring))
  }

  /// Elements to read.
  ///
  /// Thread: consumer.
  @_noLocks @_noAllocation
  package func filledCount() -> Int { head.load(ordering: .acquiring) &- tail.load(ordering: .relaxed) }

  /// Elements written so far.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  package func producedCount() -> Int { head.load(ordering: .acquiring) }

  /// Elements read so far.
  ///
  /// Thread: any.
  package func consumedCount() -> Int { tail.load(ordering: .relaxed) }

  /// Index for the next element.
  ///
  /// Thread: producer.
  @_noLocks @_noAllocation
  package func writeIndex() -> Int { head.load(ordering: .relaxed) % capacity }

  /// Index of the oldest element.
  ///
  /// Thread: consumer.
  @_noLocks @_noAllocation
  package func readIndex() -> Int { tail.load(ordering: .relaxed) % capacity }

  /// Publishes `count` elements that have been written.
  ///
  /// Thread: producer.
  @_noLocks @_noAllocation
  package func produced(_ count: Int) {
    head.store(head.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }

  /// Frees the slots of `count` elements that have been read.
  ///
  /// Thread: consumer.
  @_noLocks @_noAllocation
  package func consumed(_ count: Int) {
    tail.store(tail.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }
}
