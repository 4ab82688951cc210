/// JACK's transport at the beginning of a period.
public struct Transport: BitwiseCopyable, Sendable, Hashable {
  public var isRolling = false
  /// Its position, in frames.
  public var frame = 0

  /// Thread: any.
  @_noLocks @_noAllocation
  public init(isRolling: Bool = false, frame: Int = 0) {
    self.isRolling = isRolling
    self.frame = frame
  }
}

/// The time of a period, relative to the period before.
public struct Timing: BitwiseCopyable, Sendable, Hashable {
  /// Frames that the server played in between without calling Pinna.
  public var skippedFrames = 0
  /// How long the server stalled in between, beyond the duration of its frames.
  public var pausedMicroseconds = 0
  /// The server's frame time is that of another clock from this period on. Frames may be missing just before it, beyond
  /// `skippedFrames`: in PipeWire, where it goes over to freewheel or back, and hardly elsewhere.
  public var isUncounted = false
  /// How many frames have the same time as frames before: the callback before was late, and read the time of this period
  /// (jackd2 without -S, PipeWire 0.3).
  public var repeatedFrames = 0
  /// Whether the period has the time of the one before.
  public var isRepeat: Bool {
    @_noLocks @_noAllocation
    get { repeatedFrames > 0 }
  }
  /// When the period began, on the monotonic clock.
  public var microseconds = 0
  /// The period's first frame on the server's clock; 0 in freewheel. An engine reads it in its first period and counts
  /// from there. The schedule of a long filter's tail depends on it. Engines that start at different times therefore
  /// compute the same samples, as long as none misses a period.
  public var frame = 0
  /// The server's sample rate in this period, in hertz; 0 if it cannot change.
  public var sampleRate = 0
  /// JACK's transport in this period.
  public var transport = Transport()

  /// A period that directly follows the one before.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  public init(microseconds: Int = 0) { self.microseconds = microseconds }
}

/// How a server's frame time advances when the period changes. With a constant period, both kinds of server agree.
public enum FrameCounting: Sendable {
  /// jackd2: the frame time grows by the length of the period that begins, not of the one that ended (observed with
  /// 1.9.21, in both of its modes). It is the sum of all period lengths including this one.
  case withThisPeriod
  /// PipeWire: the frame time is the position of the period's first frame.
  case position
}

/// Detects stalls: compares the server's frame time with the frames received, period by period.
///
/// The frame time counts every period that the server runs, and stops while the server stalls. A jump of the frame time
/// is therefore a stall of Pinna, exact to the frame. Elapsed time beyond the frame time is a stall of the server.
///
/// Elapsed time limits which jumps are believed. Let `elapsed` be the monotonic time since the period before, in
/// frames, and `last` that period's length. Let `slack` be the longer of the two periods, at least 1 ms, plus a
/// thousandth of `elapsed` for clock drift. A jump of `n` frames is plausible if
///
///     0 ≤ n ≤ elapsed − last + lag + slack
///
/// `lag` is how late the server's recent periods were: after a late period the next ones come early. Any other jump,
/// forwards or backwards, means that the clock was reset. The gap is then `elapsed − last`, rounded to whole periods;
/// PipeWire says when it began a period, so that neither a callback that comes late nor one after it changes the gap.
/// A jump beyond 2³¹ frames (12 h at 48 kHz) looks like a backward jump, so elapsed time decides it as well.
public struct Timeline {
  /// The shortest server stall, in microseconds, that counts as a pause. Shorter delays only mean a busy server.
  ///
  /// Thread: any.
  @inlinable public static var shortestPause: Int {
    @_noLocks @_noAllocation
    get { 50_000 }
  }

  /// The server's sample rate, which may change.
  public var sampleRate: Int
  private let counting: FrameCounting
  private var hasReference = false
  private var lastFrameTime: UInt32 = 0
  private var lastFrames = 0
  private var lastMicroseconds = 0
  /// When PipeWire began the last period; nil if it has not said.
  private var lastStart: Int?
  /// How late the server's recent periods were, in frames. Decays within some seconds.
  private var lag = 0
  private var isFreewheeling = false
  /// Number of repeated periods since the frame time last advanced.
  private var repeats = 0

  /// Thread: any.
  public init(sampleRate: Int, counting: FrameCounting = .withThisPeriod) {
    self.sampleRate = sampleRate
    self.counting = counting
  }

  /// Forgets the period before, so that the next one follows directly.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  public mutating func forget() {
    hasReference = false
    lag = 0
  }

  /// Computes the timing of the next period.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - frameTime: the server's frame time of the period.
  ///   - microseconds: when the frame time was read, on the monotonic clock.
  ///   - frames: length of the period.
  ///   - start: when the server began the period, on the monotonic clock in microseconds; nil if it does not say.
  ///   - isFreewheeling: whether frames take no time.
  @_noLocks @_noAllocation
  public mutating func advance(
    frameTime: UInt32, microseconds: Int, frames: Int, start: Int? = nil, isFreewheeling: Bool = false
  ) -> Timing {
    var timing = Timing(microseconds: microseconds)
    let isBoundary = isFreewheeling != self.isFreewheeling
    self.isFreewheeling = isFreewheeling
    if isFreewheeling || isBoundary {
      inFreewheel(frameTime, isBoundary, &timing)
      lag = 0
    }
    if !isFreewheeling { timing.frame = Int(frameTime) }
    if hasReference, !isFreewheeling, !isBoundary {
      // The server may call once more for a period that it owed, and one further repeat is tolerated. After that the
      // frame time counts as stuck, and elapsed time decides.
      if frameTime == lastFrameTime, repeats < 2 {
        repeats &+= 1
        timing.repeatedFrames = counting == .position ? lastFrames : frames
        lastFrames = frames
        return timing
      }
      let time = microseconds &- lastMicroseconds
      let elapsed = time &* sampleRate / 1_000_000
      let counted = counting == .position ? lastFrames : frames
      let jump = Int(Int32(bitPattern: frameTime &- lastFrameTime)) &- counted
      let slack = max(max(frames, lastFrames), sampleRate / 1000) &+ elapsed / 1000
      if jump >= 0, jump <= max(0, elapsed &- lastFrames &+ lag &+ slack) {
        timing.skippedFrames = jump
        let paused = time &- (lastFrames &+ jump) &* 1_000_000 / max(1, sampleRate)
        if paused >= Self.shortestPause { timing.pausedMicroseconds = paused }
        let most = max(Self.shortestPause &* sampleRate / 1_000_000, 4 &* frames)
        lag = min(max(0, lag &+ elapsed &- lastFrames &- jump &- elapsed / 32), most)
      } else {
        let period = max(1, frames)
        let elapsed = (between(lastStart, start, until: microseconds) ?? time) &* sampleRate / 1_000_000
        timing.skippedFrames = max(0, elapsed &- lastFrames &+ period / 2) / period &* period
        timing.isUncounted = counting == .position
        lag = 0
      }
    }
    hasReference = true
    if frameTime != lastFrameTime { repeats = 0 }
    lastFrameTime = frameTime
    lastFrames = frames
    lastMicroseconds = microseconds
    lastStart = start
    return timing
  }

  /// The time from the start of the period before to that of this one; nil if PipeWire does not say, or what cannot be.
  /// jackd predicts the start, which is wrong after a stall.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func between(_ last: Int?, _ start: Int?, until now: Int) -> Int? {
    guard counting == .position, let last, let start, last > 0, start > last, start <= now else { return nil }
    return start &- last
  }

  /// Frames that take no time cannot be compared with it. jackd waits for its clients. PipeWire does not, and drives them
  /// by another clock: where that begins and ends, its frame time says nothing; in between, a jump by whole periods is
  /// believed, however long.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func inFreewheel(_ frameTime: UInt32, _ isBoundary: Bool, _ timing: inout Timing) {
    guard counting == .position, hasReference else { return }
    let jump = Int(Int32(bitPattern: frameTime &- lastFrameTime)) &- lastFrames
    if isBoundary {
      timing.isUncounted = true
    } else if jump > 0, jump <= 1 << 23, lastFrames > 0, jump % lastFrames == 0 {
      timing.skippedFrames = jump
    } else if jump != 0, jump != 0 &- lastFrames {
      timing.isUncounted = true
    }
  }
}
