import Synchronization

/// The gaps of one take, from the callback to the take's disk thread.
///
/// A callback that is late reads the time of the server's next period (jackd2 without -S, PipeWire 0.3): frames seem lost
/// before it, until a later call, some periods on, has the time of the call before once more. A stall of Pinna therefore
/// stays open for a while, with all gaps after it, and `takeBack` makes it shorter. The disk thread reads what was recorded
/// after it only when it is closed.
///
/// No method is mutating, so that both threads may call them: what only the callback uses is atomic, too.
struct GapQueue: ~Copyable {
  private static let capacity = 256
  private static let mostOpen = 64
  private static let sealed = -1

  // The closed gaps. The open ones are in the slots from the write index on, which are not published.
  private let cursor = RingCursor(capacity: GapQueue.capacity)
  private let gaps = UnsafeMutablePointer<TakeGap>.allocate(capacity: GapQueue.capacity)
  /// Or `sealed`: the disk thread reads the open gaps, and the callback touches none any more.
  private let openCount = Atomic<Int>(0)
  /// How many frames were recorded before the first open gap; `.max` if none is open.
  private let recordedBeforeOpen = Atomic<Int>(.max)
  /// The frame of the take at which the last stall ended.
  private let lastStallEnd = Atomic<Int>(0)

  deinit { gaps.deallocate() }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func freeCount() -> Int { cursor.freeCount() &- openCount.load(ordering: .relaxed) }

  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter recorded: how many frames were recorded before it.
  @_noLocks @_noAllocation
  func append(_ gap: TakeGap, recorded: Int) {
    let count = openCount.load(ordering: .relaxed)
    guard count != Self.sealed else { return }
    gaps[openIndex(count)] = gap
    if gap.isCountedStall {
      lastStallEnd.store(gap.start &+ gap.frames, ordering: .relaxed)
      if count == 0 { recordedBeforeOpen.store(recorded, ordering: .releasing) }
    } else if count == 0 {
      return cursor.produced(1)
    }
    _ = setOpenCount(count &+ 1, was: count)
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
      if gap.isCountedStall {
        let taken = min(rest, gap.frames)
        guard shorten(n, by: taken) else { return frames &- rest }
        rest &-= taken
        if openCount.load(ordering: .relaxed) == 0 { recordedBeforeOpen.store(.max, ordering: .releasing) }
      }
      n &-= 1
    }
    return frames &- rest
  }

  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: whether the disk thread has left it the gaps.
  @_noLocks @_noAllocation
  private func shorten(_ n: Int, by frames: Int) -> Bool {
    let gap = gaps[openIndex(n)]
    let isGone = gap.frames == frames
    let count = openCount.load(ordering: .relaxed)
    guard count != Self.sealed else { return false }
    if !isGone { gaps[openIndex(n)] = gap.shorter(by: frames) }
    var next = n &+ 1
    while next < count {
      gaps[openIndex(isGone ? next &- 1 : next)] = gaps[openIndex(next)].earlier(by: frames)
      next &+= 1
    }
    return setOpenCount(isGone ? count &- 1 : count, was: count)
  }

  /// Closes the open gaps if the last stall is long enough ago, or they hold back too much.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - length: of the take so far.
  ///   - patience: how long the last stall stays open, in frames.
  ///   - recorded: how many frames were recorded so far.
  ///   - mostHeldBack: how many of them the disk thread may be kept from.
  @_noLocks @_noAllocation
  func closeOld(length: Int, patience: Int, recorded: Int, mostHeldBack: Int) {
    let count = openCount.load(ordering: .relaxed)
    guard count > 0 else { return }
    if length &- lastStallEnd.load(ordering: .relaxed) >= patience || count >= Self.mostOpen
      || recorded &- recordedBeforeOpen.load(ordering: .relaxed) >= mostHeldBack
    {
      close()
    }
  }

  /// Closes the open gaps.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func close() {
    let count = openCount.load(ordering: .relaxed)
    guard count > 0, setOpenCount(0, was: count) else { return }
    cursor.produced(count)
    recordedBeforeOpen.store(.max, ordering: .releasing)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func setOpenCount(_ new: Int, was old: Int) -> Bool {
    openCount.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }

  /// Thread: JACK's realtime thread (process callback); the disk thread, once it has sealed the gaps.
  @_noLocks @_noAllocation
  private func openIndex(_ n: Int) -> Int { (cursor.writeIndex() &+ n) % Self.capacity }

  // MARK: - Disk thread

  /// How many recorded frames may be drained. Frames whose number was read before have their gaps in the queue then, or are
  /// not among these.
  ///
  /// Thread: disk thread.
  var drainableFrames: Int { recordedBeforeOpen.load(ordering: .acquiring) }

  /// Takes the open gaps away from the callback: it has gone, or is no longer waited for.
  ///
  /// Thread: disk thread.
  /// - Returns: how many are open, after the closed ones.
  func seal() -> Int { max(0, openCount.exchange(Self.sealed, ordering: .acquiringAndReleasing)) }

  /// The oldest closed gap.
  ///
  /// Thread: disk thread.
  var first: TakeGap? { cursor.filledCount() > 0 ? gaps[cursor.readIndex()] : nil }

  /// Removes it.
  ///
  /// Thread: disk thread.
  func removeFirst() { cursor.consumed(1) }

  /// An open gap, after `seal`.
  ///
  /// Thread: disk thread.
  func open(_ n: Int) -> TakeGap { gaps[openIndex(n)] }
}
