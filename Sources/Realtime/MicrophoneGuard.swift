import Synchronization

/// Mutes microphones that send what is no sound: not finite, or more than 60 dB over full scale.
///
/// From such a sample on, a microphone is silent until a second has been clean, and then fades in over 20 ms. What
/// passes depends on the samples alone, never on the period.
package struct MicrophoneGuard: ~Copyable, @unchecked Sendable {
  // Unchecked: `clean` belongs to the callback alone; what others read is atomic.

  private let microphones: Int
  private let holdFrames: Int
  private let fadeFrames: Int
  /// Frames since the last sample that was no sound, up to hold and fade.
  private let clean: UnsafeMutablePointer<Int>
  private let muted: UnsafeMutablePointer<Atomic<Bool>>

  /// Control thread.
  package init(microphones: Int, sampleRate: Double) {
    self.microphones = microphones
    holdFrames = max(1, Int(sampleRate))
    fadeFrames = max(1, Int(0.02 * sampleRate))
    clean = .allocate(capacity: microphones)
    clean.initialize(repeating: holdFrames + fadeFrames, count: microphones)
    muted = .allocate(capacity: microphones)
    for n in 0..<microphones { (muted + n).initialize(to: Atomic(false)) }
  }

  deinit {
    clean.deallocate()
    muted.deinitialize(count: microphones)
    muted.deallocate()
  }

  /// Any thread: whether this microphone is silenced, or fading back.
  package func isMuted(_ microphone: Int) -> Bool { muted[microphone].load(ordering: .relaxed) }

  /// Not a number compares false.
  @_noLocks @_noAllocation
  static func isSound(_ sample: Float) -> Bool { sample.magnitude <= 1000 }

  /// Callback: `ring` holds `frames` samples of an input from `start` on, `rejected` of them no sound; silences what
  /// must not pass. It looks at the copy alone: who writes the input may still do so.
  @_noLocks @_noAllocation
  package func apply(
    _ microphone: Int, frames: Int, rejected: Int, ring: UnsafeMutablePointer<Float>, start: Int, mask: Int
  ) {
    guard rejected > 0 || clean[microphone] < holdFrames &+ fadeFrames else { return }
    var age = clean[microphone]
    if rejected == frames || age &+ frames <= holdFrames {
      age &+= frames
      if rejected > 0 {
        age = 0
        while age < frames, Self.isSound(ring[(start &+ frames &- 1 &- age) & mask]) { age &+= 1 }
      }
      var n = 0
      while n < frames {
        ring[(start &+ n) & mask] = 0
        n &+= 1
      }
    } else {
      var n = 0
      while n < frames {
        let sample = ring[(start &+ n) & mask]
        age = Self.isSound(sample) ? min(age &+ 1, holdFrames &+ fadeFrames) : 0
        ring[(start &+ n) & mask] = age == 0 ? 0 : sample * gain(age)
        n &+= 1
      }
    }
    clean[microphone] = age
    muted[microphone].store(age < holdFrames &+ fadeFrames, ordering: .relaxed)
  }

  /// 0 while it is held, then smoothly up to 1.
  @_noLocks @_noAllocation
  private func gain(_ age: Int) -> Float {
    let x = max(0, Float(age &- holdFrames) / Float(fadeFrames))
    return x * x * (3 - 2 * x)
  }
}
