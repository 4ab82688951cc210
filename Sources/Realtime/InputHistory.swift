import CRealtime

/// The last frames of every microphone in the time domain, so that a convolver of another period can take over
/// in mid-stream.
struct InputHistory {
  let microphones: Int
  /// Frames in shape `[microphone][frame mod capacity]`, and how many were written so far.
  let record: UnsafeMutablePointer<pinna_history>
  /// What any convolver needs.
  let longest: Int
  private let memory: AlignedMemory

  init(microphones: Int, taps: Int) {
    var capacity = 1
    while capacity < 3 * taps + 3 * Partitioning.longestPeriod { capacity *= 2 }
    longest = capacity
    self.microphones = microphones
    // Rows a power of two apart would all fall on the same lines of the cache.
    let stride = capacity + 5 * 16
    memory = AlignedMemory(count: microphones * stride)
    record = .allocate(capacity: 1)
    record.initialize(
      to: pinna_history(frames: memory.floats, capacity: capacity, stride: stride, written: 0))
  }

  func free() {
    record.deallocate()
    memory.free()
  }

  /// Goes on with another capacity, a power of two up to `longest`: one that is larger than it need be leaves the
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
        row[frame & (capacity &- 1)] = row[frame & (old &- 1)]
        frame &+= 1
      }
      frame = written &- capacity
      while frame < written &- kept {
        row[frame & (capacity &- 1)] = 0
        frame &+= 1
      }
      microphone &+= 1
    }
    record.pointee.capacity = capacity
  }

  /// Appends one period of each microphone, and measures it. A port without a buffer is silent, and so is what the
  /// guard does not let pass. Returns how many samples were no sound.
  @_noLocks @_noAllocation
  func append(
    _ inputs: UnsafePointer<UnsafePointer<Float>?>, frames: Int, kernels: KernelCalls,
    guard: borrowing MicrophoneGuard, meters: borrowing Meters
  ) -> Int {
    var rejected = 0
    let capacity = record.pointee.capacity
    let at = record.pointee.written & (capacity &- 1)
    let head = min(frames, capacity &- at)
    var microphone = 0
    while microphone < microphones {
      let ring = record.pointee.frames + microphone &* record.pointee.stride
      var measure = pinna_measure(energy: 0, peak: 0, rejected: 0, clipped: 0)
      if let input = inputs[microphone] {
        kernels.take(input, ring + at, head, &measure)
        if head < frames { kernels.take(input + head, ring, frames &- head, &measure) }
        `guard`.apply(
          microphone, input, frames: frames, rejected: measure.rejected, ring: ring, start: at,
          mask: capacity &- 1)
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
