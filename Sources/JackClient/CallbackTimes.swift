import Synchronization

/// How long a process callback took from entry to exit, call by call, for `pinna bench --live`.
public final class CallbackTimes: @unchecked Sendable {
  // Unchecked: the callback alone writes below `count`'s limit; who reads waits until `isFull`.

  private let memory: UnsafeMutablePointer<Int>
  private let capacity: Int
  /// Calls so far, less those to be skipped.
  private let count: Atomic<Int>

  /// - Parameters:
  ///   - capacity: calls; later ones are not noted.
  ///   - skipped: calls before the first that is noted: those in which a client joins.
  public init(capacity: Int, skipping skipped: Int = 0) {
    self.capacity = capacity
    count = Atomic(-skipped)
    memory = .allocate(capacity: capacity)
    // Written once, so that the callback meets no page that is not there yet.
    memory.initialize(repeating: 1, count: capacity)
  }

  deinit { memory.deallocate() }

  public var noted: Int { max(0, count.load(ordering: .acquiring)) }
  public var isFull: Bool { noted == capacity }

  /// Nanoseconds per call, oldest first.
  public var nanoseconds: [Int] { Array(UnsafeBufferPointer(start: memory, count: noted)) }

  /// The callback.
  @_noLocks @_noAllocation
  package func note(_ time: Int) {
    let n = count.load(ordering: .relaxed)
    if n >= capacity { return }
    if n >= 0 { memory[n] = time }
    count.store(n &+ 1, ordering: .releasing)
  }
}
