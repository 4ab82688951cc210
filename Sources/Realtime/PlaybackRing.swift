import Synchronization

/// Frames of a take on their way from the disk thread to the callback, interleaved, left and right.
public final class PlaybackRing: @unchecked Sendable {
  // Unchecked: one producer (the disk thread), one consumer (the callback); the cursor orders their accesses.

  public let capacityFrames: Int
  private let samples: AlignedMemory
  private let cursor: RingCursor
  private let finished = Atomic<Bool>(false)
  private let played = Atomic<Int>(0)
  private let missing = Atomic<Int>(0)

  /// Ends the program where there is no memory.
  public convenience init(capacityFrames: Int) {
    self.init(capacityFrames, AlignedMemory(count: 2 * capacityFrames))
  }

  public convenience init(reservingFrames capacityFrames: Int) throws(OutOfMemory) {
    self.init(capacityFrames, try AlignedMemory(reserving: 2 * capacityFrames))
  }

  private init(_ capacityFrames: Int, _ memory: AlignedMemory) {
    self.capacityFrames = capacityFrames
    samples = memory
    cursor = RingCursor(capacity: capacityFrames)
  }

  deinit { samples.free() }

  // MARK: Disk thread

  public var freeFrames: Int { cursor.free() }

  /// Appends whole frames; there must be room.
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

  /// The last frame has been written.
  public func finish() { finished.store(true, ordering: .releasing) }

  // MARK: Anyone

  /// Frames that have been played.
  public var framesPlayed: Int { played.load(ordering: .relaxed) }
  /// Frames that the disk did not bring in time; there was silence instead.
  public var missedFrames: Int { missing.load(ordering: .relaxed) }

  // MARK: Callback

  /// Whether `frames` can be read, or no more will come.
  @_noLocks @_noAllocation
  func isReady(frames: Int) -> Bool {
    if finished.load(ordering: .acquiring) { return true }
    if frames > capacityFrames { return true }
    return cursor.waiting() >= frames
  }

  /// Frames that are still to come; `Int.max` before the end is known.
  @_noLocks @_noAllocation
  func framesLeft() -> Int {
    if finished.load(ordering: .acquiring) { return cursor.waiting() }
    return Int.max
  }

  /// The next `count` frames; silence where they are not there.
  @_noLocks @_noAllocation
  func read(left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>, count: Int) {
    let isLast = finished.load(ordering: .acquiring)
    let available = cursor.waiting()
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
    played.store(played.load(ordering: .relaxed) &+ frames, ordering: .relaxed)
    if !isLast { missing.store(missing.load(ordering: .relaxed) &+ count &- frames, ordering: .relaxed) }
  }
}
