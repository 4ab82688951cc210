import CRealtime

/// The last frames of every microphone in the time domain, so that a convolver of another period can take over
/// in mid-stream.
struct InputHistory {
  let microphones: Int
  /// Frames in shape `[microphone][frame mod capacity]`, and how many were written so far.
  let record: UnsafeMutablePointer<pinna_history>
  private let taps: Int
  private let longestPeriod = Partitioning.longestPeriod
  private let memory: AlignedMemory

  init(microphones: Int, taps: Int) {
    let capacity = Self.longest(taps: taps)
    self.microphones = microphones
    self.taps = taps
    // Rows a power of two apart would all fall on the same lines of the cache.
    let stride = capacity + 5 * 16
    memory = AlignedMemory(count: microphones * stride)
    record = .allocate(capacity: 1)
    record.initialize(
      to: pinna_history(frames: memory.floats, capacity: capacity, stride: stride, written: 0))
  }

  /// What any convolver needs: of a tail, 2.2 times its filters and little more; else the filters, a period, and a
  /// window of up to four.
  static func longest(taps: Int) -> Int {
    var capacity = 1
    while capacity < 3 * taps + 3 * Partitioning.longestPeriod { capacity *= 2 }
    return capacity
  }

  /// Before the first period: `frame` is its place on the stream's clock, from which frames are counted on.
  @_noLocks @_noAllocation
  func begin(at frame: Int) { record.pointee.written = frame }

  func free() {
    record.deallocate()
    memory.free()
  }

  /// Room for a period that nothing was prepared for, and for what filters reach back to behind it.
  @_noLocks @_noAllocation
  func makeRoom(for frames: Int) {
    var capacity = record.pointee.capacity
    while capacity < taps &+ 2 &* min(frames, longestPeriod) { capacity &*= 2 }
    resize(capacity)
  }

  /// Goes on with another capacity, a power of two up to the longest: one that is larger than it need be leaves the
  /// cache to nothing else. What is older than was kept becomes silence.
  @_noLocks @_noAllocation
  func resize(_ capacity: Int) {
    let (old, written) = (record.pointee.capacity, record.pointee.written)
    if capacity == old { return }
    let kept = min(old, capacity)
    var microphone = 0
    while microphone < microphones {
      let row = record.pointee.frames + microphone &* record.pointee.stride
      // Of two frames that are kept none stands where the other goes: that would be a whole capacity apart.
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
    record.pointee.capacity = capacity
  }

  /// Appends one period of each microphone, and measures it. A port without a buffer is silent, and so is what the
  /// guard does not let pass. Returns how many samples were no sound. Of a period beyond the longest, which JACK 2 never
  /// has and PipeWire may be told to, only the end is taken in.
  @_noLocks @_noAllocation
  func append(
    _ inputs: UnsafePointer<UnsafePointer<Float>?>, frames all: Int, kernels: KernelCalls,
    guard: borrowing MicrophoneGuard, meters: borrowing Meters
  ) -> Int {
    var rejected = 0
    let frames = min(all, longestPeriod)
    let capacity = record.pointee.capacity
    let at = record.pointee.written & (capacity &- 1)
    let head = min(frames, capacity &- at)
    var microphone = 0
    while microphone < microphones {
      let ring = record.pointee.frames + microphone &* record.pointee.stride
      var measure = pinna_measure(energy: 0, peak: 0, rejected: 0, clipped: 0)
      if let whole = inputs[microphone] {
        let input = whole + (all &- frames)
        kernels.take(input, ring + at, head, &measure)
        if head < frames { kernels.take(input + head, ring, frames &- head, &measure) }
        `guard`.apply(
          microphone, frames: frames, rejected: measure.rejected, ring: ring, start: at, mask: capacity &- 1)
        rejected &+= measure.rejected
      } else {
        (ring + at).clear(count: head)
        ring.clear(count: frames &- head)
      }
      meters.observe(microphone, measure, frames: frames)
      microphone &+= 1
    }
    record.pointee.written &+= frames
    return rejected
  }
}
