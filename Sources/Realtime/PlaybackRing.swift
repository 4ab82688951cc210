import Synchronization

/// The ring buffer of a playback, from the playback's disk thread to the callback. Frames are interleaved: left, right.
public final class PlaybackRing: @unchecked Sendable {
  // Unchecked: single producer (the disk thread), single consumer (the callback); the cursor orders their accesses.

  public let capacityFrames: Int
  private let samples: AlignedMemory
  private let cursor: RingCursor
  private let finished = Atomic<Bool>(false)
  private let playedCount = Atomic<Int>(0)
  private let missedCount = Atomic<Int>(0)

  /// If there is no memory, the program ends.
  ///
  /// Thread: any but the callback's.
  public convenience init(capacityFrames: Int) {
    self.init(capacityFrames, AlignedMemory(count: 2 * capacityFrames))
  }

  /// Thread: any but the callback's.
  public convenience init(reservingFrames capacityFrames: Int) throws(OutOfMemory) {
    self.init(capacityFrames, try AlignedMemory(reserving: 2 * capacityFrames))
  }

  /// Thread: any but the callback's.
  private init(_ capacityFrames: Int, _ memory: AlignedMemory) {
    self.capacityFrames = capacityFrames
    samples = memory
    cursor = RingCursor(capacity: capacityFrames)
  }

  deinit { samples.free() }

  // MARK: - Disk thread

  /// Thread: disk thread.
  public var freeFrames: Int { cursor.freeCount() }

  /// Appends whole frames. There must be room for all of them.
  ///
  /// Thread: disk thread.
  public func write(left: some Collection<Float>, right: some Collection<Float>) {
    precondition(left.count == right.count && left.count <= freeFrames, "room for every frame")
    var at = cursor.writeIndex()
    for (l, r) in zip(left, right) {
      samples.floats[2 * at] = l
      samples.floats[2 * at + 1] = r
      at = at + 1 == capacityFrames ? 0 : at + 1
    }
    cursor.produced(left.count)
  }

  /// Marks the end: the last frame has been written.
  ///
  /// Thread: disk thread.
  public func finish() { finished.store(true, ordering: .releasing) }

  // MARK: - Any thread

  /// Frames played so far.
  ///
  /// Thread: any.
  public var framesPlayed: Int { playedCount.load(ordering: .relaxed) }
  /// Frames lost to underruns: the disk was too slow, and silence was played instead.
  ///
  /// Thread: any.
  public var missedFrames: Int { missedCount.load(ordering: .relaxed) }

  // MARK: - Realtime thread

  /// Whether `frames` can be read, or no more will come.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func isReady(frames: Int) -> Bool {
    if finished.load(ordering: .acquiring) { return true }
    if frames > capacityFrames { return true }
    return cursor.filledCount() >= frames
  }

  /// Frames left to play; `Int.max` until the end is known.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func framesLeft() -> Int {
    if finished.load(ordering: .acquiring) { return cursor.filledCount() }
    return Int.max
  }

  /// Copies the next `count` frames. An underrun is filled with silence and counted.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func read(left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>, count: Int) {
    let isLast = finished.load(ordering: .acquiring)
    let available = cursor.filledCount()
    let frames = available < count ? available : count
    var at = cursor.readIndex()
    var n = 0
    while n < frames {
      left[n] = samples.floats[2 &* at]
      right[n] = samples.floats[2 &* at &+ 1]
      at = at &+ 1 == capacityFrames ? 0 : at &+ 1
      n &+= 1
    }
    while n < count {
      left[n] = 0
      right[n] = 0
      n &+= 1
    }
    cursor.consumed(frames)
    playedCount.store(playedCount.load(ordering: .relaxed) &+ frames, ordering: .relaxed)
    if !isLast {
      missedCount.store(missedCount.load(ordering: .relaxed) &+ count &- frames, ordering: .relaxed)
    }
  }
}
