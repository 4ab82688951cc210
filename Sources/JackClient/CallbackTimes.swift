import Synchronization

/// The durations of process callbacks from entry to exit, for `pinna-benchmarks live`.
///
/// Thread: any, except for `note`.
public final class CallbackTimes: @unchecked Sendable {
  // Unchecked: only the callback writes, each entry once, before it increments `count`; readers read entries below
  // `count`.

  private let memory: UnsafeMutablePointer<Int>
  private let capacity: Int
  /// Calls so far, minus those to skip; negative while skipping.
  private let count: Atomic<Int>

  /// - Parameters:
  ///   - capacity: number of calls to record; later ones are ignored.
  ///   - skipped: number of initial calls to ignore, in which the client joins.
  public init(capacity: Int, skipping skipped: Int = 0) {
    self.capacity = capacity
    count = Atomic(-skipped)
    memory = .allocate(capacity: capacity)
    // Touches every page now, so that the callback causes no page fault.
    memory.initialize(repeating: 1, count: capacity)
  }

  deinit { memory.deallocate() }

  /// Number of calls recorded.
  public var noted: Int { max(0, count.load(ordering: .acquiring)) }
  public var isFull: Bool { noted == capacity }

  /// The durations in nanoseconds, oldest first.
  public var nanoseconds: [Int] { Array(UnsafeBufferPointer(start: memory, count: noted)) }

  /// Records a duration in nanoseconds. Thread: JACK's realtime thread.
  @_noLocks @_noAllocation
  package func note(_ time: Int) {
    let n = count.load(ordering: .relaxed)
    if n >= capacity { return }
    if n >= 0 { memory[n] = time }
    count.store(n &+ 1, ordering: .releasing)
  }
}
