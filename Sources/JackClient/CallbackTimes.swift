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
  func note(_ time: Int) {
    let n = count.load(ordering: .relaxed)
    if n >= capacity { return }
    if n >= 0 { memory[n] = time }
    count.store(n &+ 1, ordering: .releasing)
  }
}

/// A client without ports that does nothing in its callback but wait, as long as an engine works, and notes by how much
/// it was longer: what a machine adds, and less than that, since what holds it up while it waits shows only beyond the
/// wait's end. One that returned at once would hardly ever meet any of it.
public final class IdleClient: Sendable {
  private let connection: JackConnection

  private final class Work: Sendable {
    let wait: Int
    let times: CallbackTimes
    init(_ wait: Int, _ times: CallbackTimes) { (self.wait, self.times) = (wait, times) }

    /// The callback.
    func run() {
      let start = RealtimeCalls.nanoseconds()
      var waited = 0
      while waited < wait { waited = RealtimeCalls.nanoseconds() &- start }
      times.note(waited &- wait)
    }
  }

  /// - Parameters:
  ///   - wait: nanoseconds.
  ///   - times: nanoseconds beyond `wait`.
  public init(name: String, server: String?, wait: Int, times: CallbackTimes) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    let work = Work(wait, times)
    connection.setProcess(
      { _, context in
        Unmanaged<Work>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run() }
        return 0
      }, context: work)
    try connection.activate()
  }

  public var isServerGone: Bool { connection.isServerGone }

  /// False where it could not be closed: then no other client must be opened in this process.
  @discardableResult
  public func close() -> Bool { connection.close() }
}
