/// Fades out a microphone's signal that ends abruptly, because its port loses the connection or its interface sends zeros,
/// and fades it in when it returns. A step in one microphone would be a click in every output.
///
/// From the first of the zeros at the end of a period, after 64 samples of which none is zero, the signal goes on
/// as a tone with the value and the slope of its end, at the frequency that fits these samples best (a linear prediction
/// of order 2). The tone fades out over 20 ms. A signal that returns with the next period, within 16 frames, only
/// crossed zero: it goes on as it is. One that ended below -80 dBFS, as behind a noise gate, ended by itself: it neither
/// fades out nor in.
package struct DropoutFade: ~Copyable, @unchecked Sendable {
  // Unchecked: only the callback uses the states, or the control side while it does not run.

  /// Of one microphone.
  package struct State: BitwiseCopyable, Hashable, Sendable {
    package var isOut = false
    /// Frames of the tone so far.
    package var toneAge: Int
    /// Frames since the signal returned.
    package var signalAge: Int
    // The tone as a rotating vector, and the rotation from one frame to the next.
    package var re: Float = 0
    package var im: Float = 0
    package var cosine: Float = 1
    package var sine: Float = 0

    package init(toneAge: Int, signalAge: Int) { (self.toneAge, self.signalAge) = (toneAge, signalAge) }
  }

  private let microphones: Int
  private let fadeFrames: Int
  private let states: UnsafeMutablePointer<State>

  /// Thread: control side.
  init(microphones: Int, sampleRate: Double) {
    self.microphones = microphones
    fadeFrames = Crossfade.frames(sampleRate: sampleRate)
    states = .allocate(capacity: microphones)
    states.initialize(repeating: State(toneAge: fadeFrames, signalAge: fadeFrames), count: microphones)
  }

  deinit { states.deallocate() }

  /// Processes one period of a microphone, in the ring that holds its copy and those before it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - isZero: whether all of the period is exactly zero.
  ///   - start: index of its first frame in `ring`.
  ///   - mask: capacity of `ring`, a power of two, minus 1.
  @_noLocks @_noAllocation
  func apply(
    _ microphone: Int, frames: Int, isZero: Bool, ring: UnsafeMutablePointer<Float>, start: Int, mask: Int
  ) {
    let state = states + microphone
    if state.pointee.isOut, !isZero { begin(signal: state) }
    var zeros = 0
    if !state.pointee.isOut {
      zeros = isZero ? frames : 0
      while zeros < frames, ring[(start &+ frames &- 1 &- zeros) & mask] == 0 { zeros &+= 1 }
    }
    let end = start &+ frames &- zeros
    fadeIn(state, ring, start: start, frames: frames &- zeros, mask)
    play(state, ring, start: start, frames: frames &- zeros, mask)
    guard zeros > 0 else { return }
    // Where no tone begins, the last one goes on.
    begin(toneOf: state, ring, end: end, mask)
    play(state, ring, start: end, frames: zeros, mask)
  }

  /// Thread: JACK's realtime thread (process callback), or the control side while the callback does not run.
  @_noLocks @_noAllocation
  func state(_ microphone: Int) -> State { states[microphone] }

  /// Thread: control side, while the callback does not run.
  func set(_ microphone: Int, _ state: State) { states[microphone] = state }

  /// Forgets a dropout: the guard mutes the microphone.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func reset(_ microphone: Int) {
    states[microphone] = State(toneAge: fadeFrames, signalAge: fadeFrames)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func begin(signal state: UnsafeMutablePointer<State>) {
    state.pointee.isOut = false
    state.pointee.signalAge = 0
    guard state.pointee.toneAge < 16 else { return }
    state.pointee.signalAge = fadeFrames
    state.pointee.toneAge = fadeFrames
  }

  /// Fits a tone to the 64 samples before `end`, if none of them is zero.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func begin(
    toneOf state: UnsafeMutablePointer<State>, _ ring: UnsafeMutablePointer<Float>, end: Int, _ mask: Int
  ) {
    let (last, before) = (ring[(end &- 1) & mask], ring[(end &- 2) & mask])
    guard last != 0, mask >= 127 else { return }
    var (correlation, energy, peak): (Float, Float, Float) = (0, 1e-30, max(last.magnitude, before.magnitude))
    var (x1, x2) = (last, before)
    var n = 3
    while n <= 64 {
      let x3 = ring[(end &- n) & mask]
      if x3 == 0 || x2 == 0 { return }
      correlation += x2 * (x1 + x3)
      energy += x2 * x2
      peak = max(peak, x3.magnitude)
      (x1, x2) = (x2, x3)
      n &+= 1
    }
    guard peak > 1e-4 else { return }
    // At most 110 Hz below, at 48 kHz: slower tones would turn a small slope into a large swing.
    let cosine = clamped(0.5 * correlation / energy, from: -0.99, to: 0.9999)
    let sine = squareRoot(1 - cosine * cosine)
    state.pointee.isOut = true
    state.pointee.toneAge = 0
    state.pointee.cosine = cosine
    state.pointee.sine = sine
    state.pointee.re = last
    state.pointee.im = -clamped((last * cosine - before) / sine, from: -peak, to: peak)
  }

  /// Adds the tone, as far as it has not faded out.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func play(
    _ state: UnsafeMutablePointer<State>, _ ring: UnsafeMutablePointer<Float>, start: Int, frames: Int,
    _ mask: Int
  ) {
    let count = min(frames, fadeFrames &- state.pointee.toneAge)
    guard count > 0 else { return }
    let (cosine, sine) = (state.pointee.cosine, state.pointee.sine)
    var (re, im) = (state.pointee.re, state.pointee.im)
    var n = 0
    while n < count {
      (re, im) = (re * cosine - im * sine, re * sine + im * cosine)
      ring[(start &+ n) & mask] += re * (1 - rise(state.pointee.toneAge &+ n &+ 1))
      n &+= 1
    }
    (state.pointee.re, state.pointee.im) = (re, im)
    state.pointee.toneAge &+= count
  }

  /// Scales a signal that has returned.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func fadeIn(
    _ state: UnsafeMutablePointer<State>, _ ring: UnsafeMutablePointer<Float>, start: Int, frames: Int,
    _ mask: Int
  ) {
    let count = min(frames, fadeFrames &- state.pointee.signalAge)
    guard count > 0 else { return }
    var n = 0
    while n < count {
      // Zeros before the first sample take no time.
      if ring[(start &+ n) & mask] != 0 || state.pointee.signalAge > 0 {
        ring[(start &+ n) & mask] *= rise(state.pointee.signalAge)
        state.pointee.signalAge &+= 1
      }
      n &+= 1
    }
  }

  /// Heron's method: the compiler cannot prove that the library's function takes no lock.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter value: from 0.0001 to 1.
  @_noLocks @_noAllocation
  private func squareRoot(_ value: Float) -> Float {
    var (root, n): (Float, Int) = (0.5 * (1 + value), 0)
    while n < 10 {
      root = 0.5 * (root + value / root)
      n &+= 1
    }
    return root
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func clamped(_ value: Float, from least: Float, to most: Float) -> Float {
    value < least ? least : value > most ? most : value
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func rise(_ age: Int) -> Float { smoothstep(age, of: fadeFrames) }
}
