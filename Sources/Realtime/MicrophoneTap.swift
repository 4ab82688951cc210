import CRealtime
import Synchronization

/// The ring buffer of microphone signals for the thread that makes filters follow the sound.
///
/// A period for which there is no room is dropped whole, and everything after it until the reader has read what came
/// before: so the reader learns of the gap where it is.
struct MicrophoneTap: ~Copyable, @unchecked Sendable {
  // Unchecked: single producer (the callback), single consumer (the worker); the cursor orders their accesses.

  /// Frames for 1/3 s, and for two of the longest periods: a power of two.
  static func capacity(sampleRate: Double) -> Int {
    var frames = 2 * Partitioning.longestPeriod
    while Double(frames) < sampleRate / 3 { frames *= 2 }
    return frames
  }

  private let microphones: Int
  private let capacity: Int
  /// Shape: `[microphone][frame modulo capacity]`.
  private let samples: AlignedMemory
  private let cursor: RingCursor
  /// Whether the worker reads.
  private let isOpen = Atomic<Bool>(false)
  /// Frames lost before the next frame that the callback writes. Callback only.
  private let dropped: UnsafeMutablePointer<Int>
  /// Frames lost so far, before frames that the ring has held.
  private let lost = Atomic<Int>(0)
  /// Those that the worker knows of; nil before its first frames. Worker only.
  private let lostBefore: UnsafeMutablePointer<Int?>
  /// The engine's clock beyond the frames that the ring has held.
  private let offset = Atomic<Int>(0)
  /// Frames that the worker has read so far and has finished with.
  private let finished = Atomic<Int>(0)

  /// Thread: control side.
  init(microphones: Int, capacity: Int) {
    self.microphones = microphones
    self.capacity = capacity
    samples = AlignedMemory(count: microphones * capacity)
    cursor = RingCursor(capacity: capacity)
    dropped = .allocate(capacity: 1)
    dropped.initialize(to: 0)
    lostBefore = .allocate(capacity: 1)
    lostBefore.initialize(to: nil)
  }

  deinit {
    samples.free()
    dropped.deallocate()
    lostBefore.deallocate()
  }

  // MARK: - Worker

  /// Forgets what is in the ring, and lets the callback write.
  ///
  /// Thread: worker.
  func open() {
    discard()
    isOpen.store(true, ordering: .releasing)
  }

  /// Thread: worker.
  func close() {
    isOpen.store(false, ordering: .releasing)
    discard()
  }

  /// Thread: worker.
  private func discard() {
    let unread = cursor.filledCount()
    lostBefore.pointee = nil
    cursor.consumed(unread)
    // Nothing is waited for any more: the callback may still write a period that it has begun.
    finished.store(cursor.consumedCount(), ordering: .releasing)
  }

  /// Reads the oldest frames.
  ///
  /// Thread: worker.
  /// - Parameter targets: one per microphone.
  /// - Returns: the frames read, how many were lost just before the first of them, and the engine's clock at that one.
  func read(into targets: UnsafePointer<UnsafeMutablePointer<Float>>, atMost most: Int) -> (
    frames: Int, lost: Int, clock: Int
  ) {
    let frames = min(most, cursor.filledCount())
    guard frames > 0 else { return (0, 0, 0) }
    let start = cursor.readIndex()
    let head = min(frames, capacity - start)
    for microphone in 0..<microphones {
      let row = samples.floats + microphone * capacity
      targets[microphone].update(from: row + start, count: head)
      (targets[microphone] + head).update(from: row, count: frames - head)
    }
    // Before the frames are consumed: more is lost only before frames that come into an empty ring.
    let lost = lost.load(ordering: .relaxed)
    let before = lostBefore.pointee ?? lost
    lostBefore.pointee = lost
    let clock = offset.load(ordering: .relaxed) &+ cursor.consumedCount()
    cursor.consumed(frames)
    return (frames, lost - before, clock)
  }

  /// Thread: worker.
  func finish(frames: Int) { finished.wrappingAdd(frames, ordering: .releasing) }

  // MARK: - Any thread

  /// Whether the worker reads.
  var isTapped: Bool {
    @_noLocks @_noAllocation get { isOpen.load(ordering: .relaxed) }
  }

  /// Frames lost so far. Of those that are being lost now, it knows when the worker has read what came before.
  var lostFrames: Int { lost.load(ordering: .relaxed) }

  /// Whether the worker has finished with all frames so far, or does not read.
  var isCaughtUp: Bool {
    guard isOpen.load(ordering: .acquiring) else { return true }
    return finished.load(ordering: .acquiring) >= cursor.producedCount()
  }

  // MARK: - Realtime thread

  /// Appends the newest frames of the live history, if there is room for all of them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func append(_ frames: Int, of history: UnsafePointer<pinna_history>) {
    let free = cursor.freeCount()
    // After a gap, the ring must be empty first.
    guard free >= frames, dropped.pointee == 0 || free == capacity else {
      dropped.pointee &+= frames
      return
    }
    let mask = history.pointee.capacity &- 1
    let from = (history.pointee.written &- frames) & mask
    let to = cursor.writeIndex()
    var microphone = 0
    while microphone < microphones {
      let source = history.pointee.frames + microphone &* history.pointee.stride
      let target = samples.floats + microphone &* capacity
      var done = 0
      while done < frames {
        let (read, write) = ((from &+ done) & mask, (to &+ done) & (capacity &- 1))
        let run = min(frames &- done, min(mask &+ 1 &- read, capacity &- write))
        (target + write).copy(from: source + read, count: run)
        done &+= run
      }
      microphone &+= 1
    }
    if dropped.pointee > 0 { lost.wrappingAdd(dropped.pointee, ordering: .relaxed) }
    dropped.pointee = 0
    offset.store(history.pointee.written &- frames &- cursor.producedCount(), ordering: .relaxed)
    // Releasing: the worker that sees the frames knows what was lost before them.
    cursor.produced(frames)
  }
}
