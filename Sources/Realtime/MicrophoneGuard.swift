import Synchronization

/// Mutes microphones that send invalid samples: NaN, infinity, or above 60 dBFS.
///
/// From an invalid sample on, the microphone is silent. After one second of valid samples it fades in over 20 ms. The
/// result depends on the samples alone, never on the period.
package struct MicrophoneGuard: ~Copyable, @unchecked Sendable {
  // Unchecked: only the callback uses `cleanFrames`, or the control side while it does not run; other threads read
  // atomics.

  private let microphones: Int
  private let holdFrames: Int
  private let fadeFrames: Int
  /// Frames since the last invalid sample, at most hold plus fade. By microphone.
  private let cleanFrames: UnsafeMutablePointer<Int>
  private let muted: UnsafeMutablePointer<Atomic<Bool>>

  /// Thread: control side.
  package init(microphones: Int, sampleRate: Double) {
    self.microphones = microphones
    holdFrames = max(1, Int(sampleRate))
    fadeFrames = Crossfade.frames(sampleRate: sampleRate)
    cleanFrames = .allocate(capacity: microphones)
    cleanFrames.initialize(repeating: holdFrames + fadeFrames, count: microphones)
    muted = .allocate(capacity: microphones)
    for n in 0..<microphones { (muted + n).initialize(to: Atomic(false)) }
  }

  deinit {
    cleanFrames.deallocate()
    muted.deinitialize(count: microphones)
    muted.deallocate()
  }

  /// Whether this microphone is muted or fading in.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  package func isMuted(_ microphone: Int) -> Bool { muted[microphone].load(ordering: .relaxed) }

  /// Frames since the last invalid sample, as far as they matter.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side while the callback does not run.
  @_noLocks @_noAllocation
  func cleanFrames(of microphone: Int) -> Int { cleanFrames[microphone] }

  /// Thread: control side, while the callback does not run.
  func set(_ microphone: Int, cleanFrames age: Int) {
    cleanFrames[microphone] = min(max(0, age), holdFrames + fadeFrames)
    muted[microphone].store(cleanFrames[microphone] < holdFrames + fadeFrames, ordering: .relaxed)
  }

  /// Whether a sample is valid. The comparison is false for NaN.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  package static func isValid(_ sample: Float) -> Bool { sample.magnitude <= 1000 }

  /// Mutes invalid samples in the copy of one period. It never reads the input itself, which another program may still
  /// be writing.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - rejected: the number of invalid samples in this period.
  ///   - ring: the ring that holds the copy.
  ///   - start: index of its first frame in `ring`.
  ///   - mask: capacity of `ring`, a power of two, minus 1.
  @_noLocks @_noAllocation
  package func apply(
    _ microphone: Int, frames: Int, rejected: Int, ring: UnsafeMutablePointer<Float>, start: Int, mask: Int
  ) {
    guard rejected > 0 || cleanFrames[microphone] < holdFrames &+ fadeFrames else { return }
    var age = cleanFrames[microphone]
    if rejected == frames || age &+ frames <= holdFrames {
      age &+= frames
      if rejected > 0 {
        age = 0
        while age < frames, Self.isValid(ring[(start &+ frames &- 1 &- age) & mask]) { age &+= 1 }
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
        age = Self.isValid(sample) ? min(age &+ 1, holdFrames &+ fadeFrames) : 0
        ring[(start &+ n) & mask] = age == 0 ? 0 : sample * gain(age)
        n &+= 1
      }
    }
    cleanFrames[microphone] = age
    muted[microphone].store(age < holdFrames &+ fadeFrames, ordering: .relaxed)
  }

  /// 0 during the hold, then a smooth rise to 1 (smoothstep).
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func gain(_ age: Int) -> Float { smoothstep(max(0, age &- holdFrames), of: fadeFrames) }
}

/// A smooth rise from 0 to 1 over `count` frames.
///
/// Thread: any.
@_noLocks @_noAllocation
func smoothstep(_ frame: Int, of count: Int) -> Float {
  let x = Float(frame) / Float(count)
  return x * x * (3 - 2 * x)
}
