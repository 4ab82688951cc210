import Synchronization

/// The newest frames of both outputs, for displays: a goniometer, a spectrum, their correlation. Always on, because it
/// costs the callback one store per frame.
///
/// A reader takes what it finds, and drops what the callback has overwritten meanwhile. It never delays the callback.
public struct OutputTap: ~Copyable, @unchecked Sendable {
  // Unchecked: one writer, the callback; every shared word is atomic.

  /// In frames: a power of two.
  public static let capacity = 1 << 15
  /// Left in the upper half of each word, right in the lower one.
  private let frames: UnsafeMutablePointer<Atomic<UInt64>>
  /// Frames written so far.
  private let written = Atomic<Int>(0)

  init() {
    frames = .allocate(capacity: Self.capacity)
    for n in 0..<Self.capacity { (frames + n).initialize(to: Atomic(0)) }
  }

  deinit {
    frames.deinitialize(count: Self.capacity)
    frames.deallocate()
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func append(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ count: Int) {
    let start = written.load(ordering: .relaxed)
    var n = 0
    while n < count {
      let word = UInt64(left[n].bitPattern) << 32 | UInt64(right[n].bitPattern)
      // Releasing: whoever sees this frame sees a count that is at most a period older.
      frames[(start &+ n) & 0x7FFF].store(word, ordering: .releasing)
      n &+= 1
    }
    // Releasing: whoever sees the count sees the frames.
    written.store(start &+ count, ordering: .releasing)
  }

  /// The newest frames, oldest first.
  ///
  /// Thread: any but the callback's.
  /// - Parameter count: how many; fewer if fewer were played, or if the callback has overwritten some meanwhile.
  /// - Returns: the number of frames that were played before the end of `samples`, and left and right, interleaved.
  public func newest(_ count: Int) -> (end: Int, samples: [Float]) {
    let end = written.load(ordering: .acquiring)
    let wanted = min(count, end, Self.capacity)
    var words: [UInt64] = []
    words.reserveCapacity(wanted)
    for n in end - wanted..<end { words.append(frames[n & (Self.capacity - 1)].load(ordering: .relaxed)) }
    atomicMemoryFence(ordering: .acquiring)
    // The period that is being written now may have begun to overwrite, too.
    let overwritten = written.load(ordering: .relaxed) + Partitioning.longestPeriod - Self.capacity
    let stale = min(wanted, max(0, overwritten - (end - wanted)))
    var samples: [Float] = []
    samples.reserveCapacity(2 * (wanted - stale))
    for word in words.dropFirst(stale) {
      samples.append(Float(bitPattern: UInt32(truncatingIfNeeded: word >> 32)))
      samples.append(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
    }
    return (end, samples)
  }
}

extension OutputTap {
  /// The correlation of left and right over the newest frames: 1 for equal outputs, −1 for inverted ones.
  ///
  /// Thread: any but the callback's.
  /// - Returns: nil while one of them is silent (below −100 dBFS).
  public func correlation(frames count: Int) -> Float? {
    let samples = newest(count).samples
    guard !samples.isEmpty else { return nil }
    var (left, right, both) = (Float(0), Float(0), Float(0))
    for n in stride(from: 0, to: samples.count, by: 2) {
      left += samples[n] * samples[n]
      right += samples[n + 1] * samples[n + 1]
      both += samples[n] * samples[n + 1]
    }
    let silence = Float(samples.count / 2) * 1e-10
    guard left > silence, right > silence else { return nil }
    return max(-1, min(1, both / (left * right).squareRoot()))
  }
}
