import Glibc
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

  private let gaps = UnsafeMutablePointer<TakeGap>.allocate(capacity: GapQueue.capacity)
  /// Callback only: how many frames were recorded before each.
  private let recorded = UnsafeMutablePointer<Int>.allocate(capacity: GapQueue.capacity)
  /// How many gaps were closed so far; how many are open, in the slots after those; and who may touch these: one word.
  private let state = Atomic<Int>(0)
  /// How many gaps the disk thread has taken.
  private let taken = Atomic<Int>(0)
  /// How many recorded frames the disk thread may drain: those before the first open gap, or all.
  private let drainable = Atomic<Int>(.max)

  deinit {
    gaps.deallocate()
    recorded.deallocate()
  }

  /// `state`, taken apart.
  private struct State {
    var closed: Int
    var open: Int
    /// The callback edits open gaps.
    var isEdited: Bool
    /// The disk thread reads them, and the callback touches none any more.
    var isSealed: Bool

    @_noLocks @_noAllocation
    init(_ word: Int) {
      (closed, open) = (word &>> 16, word &>> 2 & 0x3FFF)
      (isEdited, isSealed) = (word & 1 != 0, word & 2 != 0)
    }

    @_noLocks @_noAllocation
    mutating func closeFirst() {
      closed &+= 1
      open &-= 1
    }

    /// Of an open gap, or of the next one.
    @_noLocks @_noAllocation
    func slot(_ n: Int) -> Int { (closed &+ n) % GapQueue.capacity }

    var word: Int {
      @_noLocks @_noAllocation
      get { closed &<< 16 | open &<< 2 | (isSealed ? 2 : 0) | (isEdited ? 1 : 0) }
    }
  }

  @_noLocks @_noAllocation
  private func load() -> State { State(state.load(ordering: .acquiring)) }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func freeCount() -> Int {
    let now = load()
    return Self.capacity &- (now.closed &- taken.load(ordering: .acquiring)) &- now.open
  }

  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter frames: how many were recorded before it.
  @_noLocks @_noAllocation
  func append(_ gap: TakeGap, recorded frames: Int) {
    guard var now = edit() else { return }
    let slot = now.slot(now.open)
    gaps[slot] = gap
    recorded[slot] = frames
    if now.open > 0 || gap.isCountedStall {
      // Before the frames that follow are recorded.
      if now.open == 0 { drainable.store(frames, ordering: .releasing) }
      now.open &+= 1
    } else {
      now.closed &+= 1
    }
    finish(now)
  }

  /// Shortens the open stalls, the last one first, and moves what is after them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - frames: how many frames turned out not to be lost.
  ///   - lost: the count of lost frames, from which it takes those that were in open stalls.
  /// - Returns: their number.
  @_noLocks @_noAllocation
  func takeBack(_ frames: Int, from lost: borrowing Atomic<Int>) -> Int {
    guard load().open > 0, var now = edit() else { return 0 }
    var rest = frames
    var n = now.open &- 1
    while n >= 0, rest > 0 {
      let gap = gaps[now.slot(n)]
      if gap.isCountedStall {
        let late = min(rest, gap.frames)
        rest &-= late
        shorten(n, by: late, &now)
      }
      n &-= 1
    }
    lost.store(lost.load(ordering: .relaxed) &- (frames &- rest), ordering: .releasing)
    while now.open > 0, !gaps[now.slot(0)].isCountedStall {
      now.closeFirst()
    }
    finish(now)
    return frames &- rest
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func shorten(_ n: Int, by frames: Int, _ now: inout State) {
    let slot = now.slot(n)
    let isGone = gaps[slot].frames == frames
    if !isGone { gaps[slot] = gaps[slot].shorter(by: frames) }
    var next = n &+ 1
    while next < now.open {
      let from = now.slot(next)
      let to = isGone ? now.slot(next &- 1) : from
      gaps[to] = gaps[from].earlier(by: frames)
      recorded[to] = recorded[from]
      next &+= 1
    }
    if isGone { now.open &-= 1 }
  }

  /// Closes the first open gaps: what is long enough ago, and what keeps too much from the disk thread.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - length: of the take so far.
  ///   - patience: how long a stall stays open, in frames.
  ///   - frames: how many were recorded so far.
  ///   - mostHeldBack: how many of them the disk thread may be kept from.
  @_noLocks @_noAllocation
  func closeOld(length: Int, patience: Int, recorded frames: Int, mostHeldBack: Int) {
    guard load().open > 0, var now = edit() else { return }
    while now.open > 0 {
      let slot = now.slot(0)
      let gap = gaps[slot]
      guard
        !gap.isCountedStall || length &- gap.start &- gap.frames >= patience || now.open >= Self.mostOpen
          || frames &- recorded[slot] >= mostHeldBack
      else { break }
      now.closeFirst()
    }
    finish(now)
  }

  /// Closes all open gaps.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func close() {
    guard load().open > 0, var now = edit() else { return }
    now.closed &+= now.open
    now.open = 0
    finish(now)
  }

  /// Begins an edit; nil if the disk thread has sealed the gaps.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func edit() -> State? {
    let now = load()
    guard !now.isSealed else { return nil }
    var edited = now
    edited.isEdited = true
    return state.compareExchange(expected: now.word, desired: edited.word, ordering: .acquiringAndReleasing)
      .exchanged ? now : nil
  }

  /// Ends it. Gaps that it closed are in the queue before the frames that follow them may be drained.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func finish(_ now: State) {
    state.store(now.word, ordering: .releasing)
    drainable.store(now.open > 0 ? recorded[now.slot(0)] : .max, ordering: .releasing)
  }

  // MARK: - Disk thread

  /// How many recorded frames may be drained. Read after how many there are: each gap before those is then in the queue, or
  /// this number ends before it.
  ///
  /// Thread: disk thread.
  var drainableFrames: Int { drainable.load(ordering: .acquiring) }

  /// The first closed gap.
  ///
  /// Thread: disk thread.
  var first: TakeGap? {
    let next = taken.load(ordering: .relaxed)
    return next < load().closed ? gaps[next % Self.capacity] : nil
  }

  /// Removes it.
  ///
  /// Thread: disk thread.
  func removeFirst() { taken.store(taken.load(ordering: .relaxed) + 1, ordering: .releasing) }

  /// Takes the open gaps away from a callback that has gone, or is no longer waited for. Waits while it edits them, 0.1 s at
  /// most.
  ///
  /// Thread: disk thread.
  /// - Returns: how many are open, after the closed ones; 0 if they were sealed before.
  func seal() -> Int {
    for _ in 0..<100 {
      let now = load()
      if now.isSealed { return 0 }
      var sealed = now
      sealed.isSealed = true
      if !now.isEdited,
        state.compareExchange(expected: now.word, desired: sealed.word, ordering: .acquiringAndReleasing)
          .exchanged
      {
        return now.open
      }
      usleep(1000)
    }
    return 0
  }

  /// An open gap, after `seal`.
  ///
  /// Thread: disk thread.
  func open(_ n: Int) -> TakeGap { gaps[load().slot(n)] }
}
