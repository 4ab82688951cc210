import CRealtime

/// Plays periods that no convolver can: term by term, from the taps of the filters and the live history. It needs no
/// preparation, and gives what a convolver does but for rounding. A frame costs the same in any period, but that periods are
/// rounded up to four vectors.
struct DirectForm: ~Copyable {
  /// Multiplications and additions of each lane in a second, of all feeds: about a quarter of a core of Zen 3. What is beyond
  /// that is silent.
  private static let mostPerLane = 1e9

  private let microphones: Int
  private let taps: Int
  private let kernels: KernelCalls
  /// Of all feeds, in one frame.
  private let mostPerFrame: Int
  /// One microphone's frames: `taps` - 1 and those of the period.
  private let row: AlignedMemory
  private let left: AlignedMemory
  private let right: AlignedMemory

  /// Thread: control side.
  /// - Parameter sampleRate: in hertz.
  init(microphones: Int, taps: Int, sampleRate: Double, kernels: KernelCalls) {
    (self.microphones, self.taps, self.kernels) = (microphones, taps, kernels)
    mostPerFrame = Int(Self.mostPerLane * Double(kernels.lanes) / max(1, sampleRate))
    let frames = Partitioning.longestPeriod + kernels.directFrames
    row = AlignedMemory(count: taps + frames)
    left = AlignedMemory(count: frames)
    right = AlignedMemory(count: frames)
  }

  deinit {
    row.free()
    left.free()
    right.free()
  }

  /// How many multiplications a period may take.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func bound(frames: Int) -> Int { mostPerFrame &* frames }

  /// How many multiplications a period of one set of a feed takes: a crossfade has two.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func work(frames: Int, pairs: Int) -> Int { rounded(frames) &* 2 &* pairs &* microphones &* taps }

  /// Whole vectors are computed.
  @_noLocks @_noAllocation
  private func rounded(_ frames: Int) -> Int {
    let unit = kernels.directFrames
    return (frames &+ unit &- 1) / unit &* unit
  }

  /// Computes a period of one pair of outputs.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - history: ends with the period's `frames`, and has `taps` others before them.
  ///   - frames: at most `Partitioning.longestPeriod`.
  @_noLocks @_noAllocation
  func play(
    _ filters: Unmanaged<FilterSet>, pair: Int, _ history: UnsafePointer<pinna_history>, frames: Int,
    to target: OutputPair
  ) {
    let count = rounded(frames)
    left.floats.clear(count: count)
    right.floats.clear(count: count)
    let sums = OutputPair(left.floats, right.floats)
    let outputs = filters._withUnsafeGuaranteedRef { $0.outputs }
    let first = outputs == 1 ? 0 : 2 &* pair
    // A set with one output plays it on both; of an odd number, the last one stands alone.
    let second = first &+ 1 < outputs ? first &+ 1 : first
    var microphone = 0
    while microphone < microphones {
      copy(microphone, history, frames: frames, count)
      let (a, b) = filters._withUnsafeGuaranteedRef {
        ($0.filter(first, microphone), $0.filter(second, microphone))
      }
      kernels.addDirectly(
        UnsafePointer(row.floats + (taps &- 1)), frames: count, a, b, taps: taps, to: sums)
      microphone &+= 1
    }
    target.left.copy(from: UnsafePointer(left.floats), count: frames)
    target.right.copy(from: UnsafePointer(right.floats), count: frames)
  }

  /// Copies the end of one microphone's ring to a row, and zeros up to `count` frames from the period's first on.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func copy(
    _ microphone: Int, _ history: UnsafePointer<pinna_history>, frames: Int, _ count: Int
  ) {
    let ring = history.pointee.frames + microphone &* history.pointee.stride
    let all = taps &- 1 &+ frames
    let at = (history.pointee.written &- all) & (history.pointee.capacity &- 1)
    let head = min(all, history.pointee.capacity &- at)
    row.floats.copy(from: UnsafePointer(ring + at), count: head)
    (row.floats + head).copy(from: UnsafePointer(ring), count: all &- head)
    (row.floats + all).clear(count: count &- frames)
  }
}
