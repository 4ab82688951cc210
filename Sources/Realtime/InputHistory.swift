import CRealtime
import Synchronization

/// The last frames of every microphone in the time domain, one ring per microphone. With them, a convolver for another
/// period can start mid-stream.
///
/// Each convolver has one of the size that it needs: a larger one would displace everything else from the cache. One is
/// the engine's live one, to which the callback appends. The control side reads it while the callback runs.
final class InputHistory: @unchecked Sendable {
  // Unchecked: only the callback writes the live one. `claimed` and `published` tell the control side what it may read.

  let microphones: Int
  /// Shape: `[microphone][frame modulo capacity]`, with the number of frames written so far.
  let storage: UnsafeMutablePointer<pinna_history>
  private let memory: AlignedMemory
  /// Frames written so far.
  private let published = Atomic<Int>(0)
  /// Frames written so far, with those that are being written. Frames that lie more than a capacity before may be
  /// overwritten already.
  private let claimed = Atomic<Int>(0)

  /// Thread: control side.
  /// - Parameter capacity: frames per microphone, a power of two.
  init(microphones: Int, capacity: Int) {
    self.microphones = microphones
    // Rows a power of two apart would compete for the same cache sets.
    let stride = capacity + 5 * 16
    memory = AlignedMemory(count: microphones * stride)
    storage = .allocate(capacity: 1)
    storage.initialize(
      to: pinna_history(frames: memory.floats, capacity: capacity, stride: stride, written: 0))
  }

  deinit {
    storage.deallocate()
    memory.free()
  }

  // MARK: - Control side

  /// Frames written so far; 0 before the first period. All of them are visible to the caller.
  ///
  /// Thread: any.
  var publishedFrames: Int { published.load(ordering: .acquiring) }

  /// A copy of a live history, while the callback goes on appending. Frames that it may have overwritten meanwhile are
  /// silence.
  ///
  /// Thread: control side.
  func snapshot() -> InputHistory {
    let (frames, capacity) = (storage.pointee.frames!, storage.pointee.capacity)
    let copy = InputHistory(microphones: microphones, capacity: capacity)
    let end = publishedFrames
    pinna_copy_shared(copy.memory.floats, frames, copy.memory.count)
    atomicMemoryFence(ordering: .acquiring)
    let lost = max(0, min(claimed.load(ordering: .relaxed) - end, capacity))
    for microphone in 0..<microphones {
      let row = copy.memory.floats + microphone * copy.storage.pointee.stride
      for frame in end - capacity..<end - capacity + lost { row[frame & (capacity - 1)] = 0 }
    }
    copy.storage.pointee.written = end
    return copy
  }

  // MARK: - Realtime thread

  /// Sets the stream's clock. Only before the first period, whose first frame is `frame`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func begin(at frame: Int) { storage.pointee.written = frame }

  /// Tells the control side that the frames up to `end` are being written.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func claim(until end: Int) {
    claimed.store(end, ordering: .relaxed)
    // Releasing: no frame is overwritten before the control side can know it.
    atomicMemoryFence(ordering: .releasing)
  }

  /// Makes the frames written so far visible to the control side.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func publish() {
    claimed.store(storage.pointee.written, ordering: .relaxed)
    published.store(storage.pointee.written, ordering: .releasing)
  }

  /// Appends `count` frames of `source` from `frame` on, where this ring ends. Frames of a time before `source` begins
  /// are silence.
  ///
  /// Thread: the one that may write this ring: JACK's realtime thread (process callback), or the control side.
  /// - Parameter end: frames of `source` so far.
  @_noLocks @_noAllocation
  func append(_ count: Int, from frame: Int, of source: UnsafePointer<pinna_history>, end: Int) {
    let (mask, sourceMask) = (storage.pointee.capacity &- 1, source.pointee.capacity &- 1)
    let oldest = max(frame, min(frame &+ count, end &- source.pointee.capacity))
    // The control side may still be reading this ring from the time when it was the live one.
    claim(until: max(claimed.load(ordering: .relaxed), frame &+ count))
    var microphone = 0
    while microphone < microphones {
      let row = storage.pointee.frames + microphone &* storage.pointee.stride
      let sourceRow = source.pointee.frames + microphone &* source.pointee.stride
      var at = frame
      while at < oldest {
        let run = min(oldest &- at, mask &+ 1 &- at & mask)
        (row + at & mask).clear(count: run)
        at &+= run
      }
      while at < frame &+ count {
        let run = min(frame &+ count &- at, min(mask &+ 1 &- at & mask, sourceMask &+ 1 &- at & sourceMask))
        (row + at & mask).copy(from: sourceRow + at & sourceMask, count: run)
        at &+= run
      }
      microphone &+= 1
    }
    storage.pointee.written = frame &+ count
  }
}
