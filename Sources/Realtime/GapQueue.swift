import Synchronization

/// The gaps of one take, from the callback to the take's disk thread.
///
/// A callback that is late reads the time of the server's next period (jackd2 without -S, PipeWire 0.3): frames seem lost
/// before it, until a later call, some periods on, has the time of the call before once more. A stall of Pinna therefore
/// stays open for a while, with all gaps after it, and `takeBack` makes it shorter. The disk thread reads what was recorded
/// after it only when it is closed.
struct GapQueue: ~Copyable {
  private static let capacity = 256
  private static let mostOpen = 64
  /// How long a stall stays open, in recorded frames: periods that are late follow each other, for 0.17 s in the longest run
  /// that was seen.
  private static let patience = 8192

  // The closed gaps. The open ones are in the slots after them.
  private let cursor = RingCursor(capacity: GapQueue.capacity)
  private let gaps = UnsafeMutablePointer<TakeGap>.allocate(capacity: GapQueue.capacity)
  private let openCount = Atomic<Int>(0)
  /// How many frames were recorded before the first open gap; `.max` if none is open.
  private let framesBefore = Atomic<Int>(.max)
  /// Callback only: how many were recorded before the last one.
  private let lastStall = Atomic<Int>(0)

  deinit { gaps.deallocate() }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func freeCount() -> Int { cursor.freeCount() &- openCount.load(ordering: .relaxed) }

  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter frames: how many frames were recorded before it.
  @_noLocks @_noAllocation
  func append(_ gap: TakeGap, after frames: Int) {
    let count = openCount.load(ordering: .relaxed)
    gaps[openIndex(count)] = gap
    if gap.isStall {
      lastStall.store(frames, ordering: .relaxed)
      if count == 0 { framesBefore.store(frames, ordering: .releasing) }
    } else if count == 0 {
      return cursor.produced(1)
    }
    openCount.store(count &+ 1, ordering: .releasing)
  }

  /// Shortens the open stalls, the last one first, and moves what is after them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter frames: how many frames turned out not to be lost.
  /// - Returns: how many of them were in open stalls.
  @_noLocks @_noAllocation
  func takeBack(_ frames: Int) -> Int {
    var rest = frames
    var n = openCount.load(ordering: .relaxed) &- 1
    while n >= 0, rest > 0 {
      let gap = gaps[openIndex(n)]
      if gap.isStall {
        let taken = min(rest, gap.frames)
        shorten(n, by: taken)
        rest &-= taken
      }
      n &-= 1
    }
    if openCount.load(ordering: .relaxed) == 0 { close() }
    return frames &- rest
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func shorten(_ n: Int, by frames: Int) {
    let gap = gaps[openIndex(n)]
    let isGone = gap.frames == frames
    if !isGone { gaps[openIndex(n)] = gap.shorter(by: frames) }
    let count = openCount.load(ordering: .relaxed)
    var next = n &+ 1
    while next < count {
      gaps[openIndex(isGone ? next &- 1 : next)] = gaps[openIndex(next)].earlier(by: frames)
      next &+= 1
    }
    if isGone { openCount.store(count &- 1, ordering: .releasing) }
  }

  /// Closes the open gaps if the last stall is long enough ago, or they hold back too much.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - frames: recorded so far.
  ///   - mostHeldBack: frames that the disk thread may be kept from.
  @_noLocks @_noAllocation
  func settle(at frames: Int, mostHeldBack: Int) {
    let count = openCount.load(ordering: .relaxed)
    guard count > 0 else { return }
    if frames &- lastStall.load(ordering: .relaxed) >= Self.patience || count >= Self.mostOpen
      || frames &- framesBefore.load(ordering: .relaxed) >= mostHeldBack
    {
      close()
    }
  }

  /// Closes the open gaps.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func close() {
    cursor.produced(openCount.load(ordering: .relaxed))
    openCount.store(0, ordering: .releasing)
    framesBefore.store(.max, ordering: .releasing)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func openIndex(_ n: Int) -> Int { (cursor.writeIndex() &+ n) % Self.capacity }

  // MARK: - Disk thread

  /// How many recorded frames may be drained. Read it after their number: a gap is closed, or open, before the frames after
  /// it.
  var drainableFrames: Int { framesBefore.load(ordering: .acquiring) }

  /// The oldest gap.
  /// - Parameter open: how many open ones were taken already, once the callback has gone; else nil.
  func next(_ open: Int?) -> TakeGap? {
    if cursor.filledCount() > 0 { return gaps[cursor.readIndex()] }
    guard let open, open < openCount.load(ordering: .acquiring) else { return nil }
    return gaps[openIndex(open)]
  }

  /// Removes it.
  func remove(_ open: inout Int?) {
    if cursor.filledCount() > 0 { cursor.consumed(1) } else if let taken = open { open = taken + 1 }
  }
}
