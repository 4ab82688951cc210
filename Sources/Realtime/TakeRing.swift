import Synchronization

/// A stretch of a take that never reached the ring; silence takes its place.
public struct TakeGap: Hashable, Sendable, BitwiseCopyable {
  /// Frame of the take at which the gap begins.
  public let start: Int
  public let frames: Int
}

/// Frames of one take on their way from the callback to the disk thread: whole frames in order, and where some
/// had to be left out, exactly how many.
public final class TakeRing: @unchecked Sendable {
  // Unchecked: one producer (the callback), one consumer (the disk thread); the cursors order their accesses.

  public let channels: Int
  public let capacityFrames: Int
  private let samples: AlignedMemory
  private let cursor: RingCursor
  private let gapCursor: RingCursor
  private let gaps: UnsafeMutablePointer<TakeGap>
  private let finished = Atomic<Bool>(false)
  private let lost = Atomic<Int>(0)
  // Callback only: length of the take so far, and frames of it that are still to be put down as a gap.
  private var length = 0
  private var missing = 0
  private static let mostGaps = 256

  public init(channels: Int, capacityFrames: Int) {
    self.channels = channels
    self.capacityFrames = capacityFrames
    samples = AlignedMemory(count: channels * capacityFrames)
    cursor = RingCursor(capacity: capacityFrames)
    gapCursor = RingCursor(capacity: Self.mostGaps)
    gaps = .allocate(capacity: Self.mostGaps)
  }

  deinit {
    samples.free()
    gaps.deallocate()
  }

  /// Room for whole frames; the freewheeling caller waits for it.
  public func freeFrames() -> Int { cursor.free() }

  /// Callback: appends one period; all of it, or a gap of its length.
  @_noLocks @_noAllocation
  func write(left: UnsafePointer<Float>, right: UnsafePointer<Float>, frames: Int) {
    var room = cursor.free() >= frames
    if missing > 0, gapCursor.free() == 0 { room = false }
    guard room else {
      missing &+= frames
      lost.store(lost.load(ordering: .relaxed) &+ frames, ordering: .relaxed)
      return
    }
    putDownGap()
    var at = cursor.writeIndex()
    var n = 0
    while n < frames {
      samples.floats[at &* channels] = left[n]
      if channels > 1 { samples.floats[at &* channels &+ 1] = right[n] }
      at = at &+ 1 == capacityFrames ? 0 : at &+ 1
      n &+= 1
    }
    length &+= frames
    cursor.produced(frames)
  }

  /// Callback: the last frame has been written.
  @_noLocks @_noAllocation
  func finish() {
    putDownGap()
    finished.store(true, ordering: .releasing)
  }

  @_noLocks @_noAllocation
  private func putDownGap() {
    guard missing > 0, gapCursor.free() > 0 else { return }
    gaps[gapCursor.writeIndex()] = TakeGap(start: length, frames: missing)
    gapCursor.produced(1)
    length &+= missing
    missing = 0
  }

  // MARK: Disk thread

  /// Frames that found no room.
  public var lostFrames: Int { lost.load(ordering: .relaxed) }

  /// Whether the callback has written its last frame. Ask before draining: what was written before is then there.
  public var isFinished: Bool { finished.load(ordering: .acquiring) }

  /// Hands over what has arrived since the last call: runs of interleaved frames, and gaps in their place.
  /// `position` is the take's length up to there and is moved on.
  public func drain<Failure: Error>(
    position: inout Int, frames: (UnsafeBufferPointer<Float>) throws(Failure) -> Void,
    gap: (TakeGap) throws(Failure) -> Void
  ) throws(Failure) {
    // Frames before gaps: a gap that stands before a frame was put down before it.
    var available = cursor.waiting()
    while true {
      var run = available
      if gapCursor.waiting() > 0 {
        let next = gaps[gapCursor.readIndex()]
        if next.start == position {
          gapCursor.consumed(1)
          position += next.frames
          try gap(next)
          continue
        }
        run = min(run, next.start - position)
      }
      // In pieces, so that room comes free while a slow disk still writes.
      run = min(run, capacityFrames - cursor.readIndex(), 8192)
      guard run > 0 else { return }
      let start = samples.floats + cursor.readIndex() * channels
      defer { cursor.consumed(run) }
      position += run
      available -= run
      try frames(UnsafeBufferPointer(start: start, count: run * channels))
    }
  }
}
