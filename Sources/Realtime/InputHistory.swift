import CRealtime

/// The last frames of every microphone in the time domain, one ring per microphone. With them, a convolver for another
/// period can start mid-stream.
struct InputHistory {
  let microphones: Int
  /// Shape: `[microphone][frame modulo capacity]`, with the number of frames written so far.
  let storage: UnsafeMutablePointer<pinna_history>
  private let taps: Int
  private let longestPeriod = Partitioning.longestPeriod
  private let memory: AlignedMemory

  /// Thread: control side.
  init(microphones: Int, taps: Int) {
    let capacity = Self.maximumCapacity(taps: taps)
    self.microphones = microphones
    self.taps = taps
    // Rows a power of two apart would compete for the same cache sets.
    let stride = capacity + 5 * 16
    memory = AlignedMemory(count: microphones * stride)
    storage = .allocate(capacity: 1)
    storage.initialize(
      to: pinna_history(frames: memory.floats, capacity: capacity, stride: stride, written: 0))
  }

  /// The largest capacity that any convolver needs, a power of two. A convolver with a tail needs about 2.2 times its
  /// filters. Any other needs the filters, a period, and a window of up to four periods.
  ///
  /// Thread: any.
  static func maximumCapacity(taps: Int) -> Int {
    var capacity = 1
    while capacity < 3 * taps + 3 * Partitioning.longestPeriod { capacity *= 2 }
    return capacity
  }

  /// Sets the stream's clock. Only before the first period, whose first frame is `frame`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func begin(at frame: Int) { storage.pointee.written = frame }

  /// Thread: control side.
  func free() {
    storage.deallocate()
    memory.free()
  }

  /// Grows the capacity for a period that was not prepared, plus the length of the filters.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func makeRoom(for frames: Int) {
    var capacity = storage.pointee.capacity
    while capacity < taps &+ 2 &* min(frames, longestPeriod) { capacity &*= 2 }
    resize(capacity)
  }

  /// Changes the capacity, a power of two up to `maximumCapacity`. A capacity larger than needed would displace
  /// everything else from the cache. Frames older than the old capacity become silence.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func resize(_ capacity: Int) {
    let (old, written) = (storage.pointee.capacity, storage.pointee.written)
    if capacity == old { return }
    let kept = min(old, capacity)
    var microphone = 0
    while microphone < microphones {
      let row = storage.pointee.frames + microphone &* storage.pointee.stride
      // Two retained frames never share a slot: they are less than a whole capacity apart.
      var frame = written &- kept
      while frame < written {
        let (from, to) = (frame & (old &- 1), frame & (capacity &- 1))
        let run = min(written &- frame, min(old &- from, capacity &- to))
        if from != to { (row + to).copy(from: row + from, count: run) }
        frame &+= run
      }
      frame = written &- capacity
      while frame < written &- kept {
        let to = frame & (capacity &- 1)
        let run = min(written &- kept &- frame, capacity &- to)
        (row + to).clear(count: run)
        frame &+= run
      }
      microphone &+= 1
    }
    storage.pointee.capacity = capacity
  }

  /// Appends and measures one period of each microphone. A port without a buffer is silent. The guard mutes invalid
  /// samples; a signal that stops dead fades out.
  ///
  /// Only the end of a period longer than `Partitioning.longestPeriod` is stored. JACK 2 never has such periods;
  /// PipeWire can be configured to.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the number of invalid samples.
  @_noLocks @_noAllocation
  func append(
    _ inputs: UnsafePointer<UnsafePointer<Float>?>, frames all: Int, kernels: KernelCalls,
    guard: borrowing MicrophoneGuard, dropouts: borrowing DropoutFade, meters: borrowing Meters
  ) -> Int {
    var rejected = 0
    let frames = min(all, longestPeriod)
    let capacity = storage.pointee.capacity
    let at = storage.pointee.written & (capacity &- 1)
    let head = min(frames, capacity &- at)
    var microphone = 0
    while microphone < microphones {
      let ring = storage.pointee.frames + microphone &* storage.pointee.stride
      var measure = pinna_measure(energy: 0, peak: 0, rejected: 0, clipped: 0)
      if let whole = inputs[microphone] {
        let input = whole + (all &- frames)
        kernels.copyAndMeasure(input, ring + at, head, &measure)
        if head < frames { kernels.copyAndMeasure(input + head, ring, frames &- head, &measure) }
        `guard`.apply(
          microphone, frames: frames, rejected: measure.rejected, ring: ring, start: at, mask: capacity &- 1)
        rejected &+= measure.rejected
      } else {
        (ring + at).clear(count: head)
        ring.clear(count: frames &- head)
      }
      if `guard`.isMuted(microphone) {
        dropouts.reset(microphone)
      } else {
        dropouts.apply(
          microphone, frames: frames, isZero: measure.peak == 0, ring: ring, start: at, mask: capacity &- 1)
      }
      meters.observe(microphone, measure, frames: frames)
      microphone &+= 1
    }
    storage.pointee.written &+= frames
    return rejected
  }
}
