import Synchronization

/// A place in a take where time passed and no sound came.
public struct TakeGap: Hashable, Sendable, BitwiseCopyable {
  public enum Cause: String, Sendable, BitwiseCopyable, Codable {
    /// The disk did not keep up, and the ring was full.
    case disk
    /// The server played on while Pinna stood still.
    case stall
    /// The server stood still: no frames existed, and none are missing.
    case server
  }

  /// Frame at which it begins, from the first one that the callback wrote.
  public let start: Int
  /// Length, in frames that silence takes the place of.
  public let frames: Int
  public let cause: Cause
  /// Of the server's stall, beyond what its frames account for.
  public let microseconds: Int
}

/// Frames of one take on their way from the callback to the disk thread: whole frames in order, outputs first, then
/// microphones, so that both stay in step; and where some had to be left out, exactly how many.
public final class TakeRing: @unchecked Sendable {
  // Unchecked: one producer (the callback), one consumer (the disk thread); the cursors order their accesses.

  /// 1 or 2: left, or left and right.
  public let outputs: Int
  public let microphones: Int
  public var channels: Int { outputs + microphones }
  public let capacityFrames: Int
  private let width: Int
  private let samples: AlignedMemory
  private let cursor: RingCursor
  private let gapCursor: RingCursor
  private let gaps: UnsafeMutablePointer<TakeGap>
  private let begun = Atomic<Bool>(false)
  private let finished = Atomic<Bool>(false)
  // Frames that are missing so far, whether put down as a gap or not, and whether a stall lost the last of them.
  private let lost = Atomic<Int>(0)
  private let lostToStall = Atomic<Bool>(false)
  // Callback only: length of the take so far, and frames of it that are still to be put down as a gap.
  private var length = 0
  private var missing = 0
  // Disk thread only: frames of the gaps that it has drained.
  private var drainedGapFrames = 0
  // Written by the callback before `begun`.
  private var origin = (preRoll: 0, microseconds: 0)
  private static let mostGaps = 256

  /// Ends the program where there is no memory.
  public convenience init(outputs: Int, microphones: Int = 0, capacityFrames: Int) {
    let memory = AlignedMemory(count: (outputs + microphones) * capacityFrames)
    self.init(outputs, microphones, capacityFrames, memory)
  }

  /// A large one.
  public convenience init(outputs: Int, microphones: Int, reservingFrames capacityFrames: Int)
    throws(OutOfMemory)
  {
    let memory = try AlignedMemory(reserving: (outputs + microphones) * capacityFrames)
    self.init(outputs, microphones, capacityFrames, memory)
  }

  private init(_ outputs: Int, _ microphones: Int, _ capacityFrames: Int, _ memory: AlignedMemory) {
    self.outputs = outputs
    self.microphones = microphones
    self.capacityFrames = capacityFrames
    width = outputs + microphones
    samples = memory
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

  // MARK: Callback

  /// The next frame is the first.
  @_noLocks @_noAllocation
  func begin(preRoll: Int, microseconds: Int) {
    origin = (preRoll, microseconds)
    begun.store(true, ordering: .releasing)
  }

  /// Appends one period; all of it, or a gap of its length. A microphone without a buffer is silent.
  @_noLocks @_noAllocation
  func write(
    left: UnsafePointer<Float>, right: UnsafePointer<Float>, inputs: UnsafePointer<UnsafePointer<Float>?>,
    frames: Int
  ) {
    // The last places for gaps are kept for pauses and for the end.
    var hasRoom = cursor.free() >= frames
    if missing > 0, gapCursor.free() <= 2 { hasRoom = false }
    guard hasRoom else { return miss(frames, .disk) }
    putDownGap()
    put(left, 0, frames)
    if outputs > 1 { put(right, 1, frames) }
    var microphone = 0
    while microphone < microphones {
      put(inputs[microphone], outputs &+ microphone, frames)
      microphone &+= 1
    }
    length &+= frames
    cursor.produced(frames)
  }

  /// The server played `frames` that the callback never saw.
  @_noLocks @_noAllocation
  func skip(_ frames: Int) { miss(frames, .stall) }

  /// The server stood still.
  @_noLocks @_noAllocation
  func pause(microseconds: Int) {
    putDownGap()
    guard missing == 0, gapCursor.free() > 1 else { return }
    put(TakeGap(start: length, frames: 0, cause: .server, microseconds: microseconds))
  }

  /// The last frame has been written.
  @_noLocks @_noAllocation
  func finish() {
    putDownGap()
    finished.store(true, ordering: .releasing)
  }

  @_noLocks @_noAllocation
  private func put(_ source: UnsafePointer<Float>?, _ channel: Int, _ frames: Int) {
    var at = cursor.writeIndex()
    var n = 0
    while n < frames {
      samples.floats[at &* width &+ channel] = if let source { source[n] } else { 0 }
      at = at &+ 1 == capacityFrames ? 0 : at &+ 1
      n &+= 1
    }
  }

  @_noLocks @_noAllocation
  private func miss(_ frames: Int, _ cause: TakeGap.Cause) {
    if missing > 0, missingCause != cause, gapCursor.free() > 2 { putDownGap() }
    if missing == 0 { lostToStall.store(cause == .stall, ordering: .relaxed) }
    missing &+= frames
    // Releasing: whoever sees these frames as lost sees every frame and gap before them, too.
    lost.store(lost.load(ordering: .relaxed) &+ frames, ordering: .releasing)
  }

  private var missingCause: TakeGap.Cause {
    @_noLocks @_noAllocation
    get { lostToStall.load(ordering: .relaxed) ? .stall : .disk }
  }

  @_noLocks @_noAllocation
  private func putDownGap() {
    guard missing > 0, gapCursor.free() > 0 else { return }
    put(TakeGap(start: length, frames: missing, cause: missingCause, microseconds: 0))
    length &+= missing
    missing = 0
  }

  @_noLocks @_noAllocation
  private func put(_ gap: TakeGap) {
    gaps[gapCursor.writeIndex()] = gap
    gapCursor.produced(1)
  }

  // MARK: Disk thread

  /// Frames of pre-roll that stand before the first one, and when that was played, on the monotonic clock; nil until
  /// then.
  public var start: (preRoll: Int, microseconds: Int)? { begun.load(ordering: .acquiring) ? origin : nil }

  /// Frames that are silence.
  public var lostFrames: Int { lost.load(ordering: .relaxed) }

  /// Frames that the callback has written and the disk thread has not taken. Anyone may ask.
  public var waitingFrames: Int { capacityFrames - cursor.free() }

  /// Whether the callback has written its last frame. Ask before draining: what was written before is then there.
  public var isFinished: Bool { finished.load(ordering: .acquiring) }

  /// Hands over what has arrived since the last call: runs of interleaved frames, and gaps in their place.
  /// - Parameters:
  ///   - position: the take's length up to there; it is moved on.
  ///   - isLast: nothing is drained after this. Frames that were lost, and that the callback did not live to put down as
  ///     a gap, become the last gap.
  public func drain<Failure: Error>(
    position: inout Int, isLast: Bool = false,
    frames: (UnsafeBufferPointer<Float>) throws(Failure) -> Void,
    gap: (TakeGap) throws(Failure) -> Void
  ) throws(Failure) {
    // Read before everything else: a callback that still runs may put down a gap and write frames behind it meanwhile.
    // What was lost until now is then either among the gaps drained below, or missing at `position`.
    let lostSoFar = lost.load(ordering: .acquiring)
    try drainWritten(position: &position, frames: frames, gap: gap)
    let missing = lostSoFar - drainedGapFrames
    guard isLast, missing > 0 else { return }
    let last = TakeGap(start: position, frames: missing, cause: missingCause, microseconds: 0)
    try hand(over: last, position: &position, to: gap)
  }

  private func hand<Failure: Error>(
    over gap: TakeGap, position: inout Int, to body: (TakeGap) throws(Failure) -> Void
  ) throws(Failure) {
    position += gap.frames
    drainedGapFrames += gap.frames
    try body(gap)
  }

  private func drainWritten<Failure: Error>(
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
          try hand(over: next, position: &position, to: gap)
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
