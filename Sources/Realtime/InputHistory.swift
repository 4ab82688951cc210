/// The last frames of every microphone in the time domain, so that a convolver of another period can take over
/// in mid-stream.
struct InputHistory {
  let microphones: Int
  private let capacity: Int
  private let memory: AlignedMemory
  /// Frames written so far; the newest stands at `(written − 1) mod capacity`.
  private(set) var written = 0

  init(microphones: Int, taps: Int) {
    var capacity = 1
    while capacity < taps + 3 * Partitioning.longestPeriod { capacity *= 2 }
    self.microphones = microphones
    self.capacity = capacity
    memory = AlignedMemory(count: microphones * capacity)
  }

  func free() { memory.free() }

  /// Appends one period of each microphone. A port without a buffer is silent, and so is what the guard does not
  /// let pass. Returns how many samples were no sound.
  @_noLocks @_noAllocation
  mutating func append(
    _ inputs: UnsafePointer<UnsafePointer<Float>?>, frames: Int, guard: borrowing MicrophoneGuard
  ) -> Int {
    var rejected = 0
    let mask = capacity &- 1
    var microphone = 0
    while microphone < microphones {
      let ring = memory.floats + microphone &* capacity
      var n = 0
      if let input = inputs[microphone] {
        var bad = 0
        while n < frames {
          let sample = input[n]
          let good = MicrophoneGuard.isSound(sample)
          ring[(written &+ n) & mask] = good ? sample : 0
          bad &+= good ? 0 : 1
          n &+= 1
        }
        `guard`.apply(
          microphone, input, frames: frames, rejected: bad, ring: ring, start: written, mask: mask)
        rejected &+= bad
      } else {
        while n < frames {
          ring[(written &+ n) & mask] = 0
          n &+= 1
        }
      }
      microphone &+= 1
    }
    written &+= frames
    return rejected
  }

  /// The `count` frames of `microphone` that end `age` frames before the newest one.
  @_noLocks @_noAllocation
  func copy(microphone: Int, age: Int, count: Int, to window: UnsafeMutablePointer<Float>) {
    let ring = memory.floats + microphone &* capacity
    let start = (written &- age &- count) & (capacity &- 1)
    let head = min(count, capacity &- start)
    window.copy(from: ring + start, count: head)
    (window + head).copy(from: ring, count: count &- head)
  }
}
