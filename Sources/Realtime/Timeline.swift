/// Where a period stands in time, against the one before it.
public struct Timing: BitwiseCopyable, Sendable, Hashable {
  /// Frames that the server played in between, without us.
  public var skippedFrames = 0
  /// How long the server stood still in between, beyond the time that its frames take.
  public var pausedMicroseconds = 0
  /// The server has not gone on since: this period has been seen already.
  public var isRepeat = false
  /// When it came, on the monotonic clock.
  public var microseconds = 0
  /// Its first frame on the server's clock; 0 in freewheel. An engine counts on from that of its first period; what a
  /// long filter's schedule does in a period hangs on it, so that engines which start at different times do the same,
  /// as long as neither misses a period.
  public var frame = 0

  /// It follows the one before.
  @_noLocks @_noAllocation
  public init(microseconds: Int = 0) { self.microseconds = microseconds }
}

/// What a server's frame time says of a period whose length is not that of the period before. While the length stays
/// the same the two agree.
public enum FrameCounting: Sendable {
  /// jackd2: grows by the length of the period that begins, not of the one that ends (seen with 1.9.21, in both of its
  /// modes). So it is the sum of all lengths up to and with this period's, however often they changed in between.
  case withThisPeriod
  /// PipeWire: the position of the period's first frame.
  case position
}

/// Compares the server's frame time with the frames that came, period by period. The callback's thread alone calls it.
///
/// The frame time counts every period that the server runs, and stands still while the server does; so a jump of it is
/// a stall of ours, frame-exact, and time that it does not account for is a stall of the server's.
///
/// Elapsed time bounds what is believed. Let `elapsed` be the monotonic time since the period before, in frames, `last`
/// that period's length, and `slack` the longer of the two periods, at least 1 ms, and a thousandth of `elapsed` for two
/// clocks that run apart. A jump of `n` frames is plausible where
///
///     0 ≤ n ≤ elapsed − last + lag + slack
///
/// with `lag`, how late the server's periods came of late: one that was late runs the next ones sooner. Any other jump,
/// forwards or backwards, is another base of the clock: the gap then is `elapsed − last`, to the nearest whole period.
/// A jump beyond 2³¹ frames (12 h at 48 kHz) reads as one backwards, and so is taken from elapsed time, too.
public struct Timeline {
  /// A server that is late by less is only busy.
  @inlinable public static var shortestPause: Int {
    @_noLocks @_noAllocation
    get { 50_000 }
  }

  /// Changes where the server's rate does.
  public var sampleRate: Int
  private let counting: FrameCounting
  private var isKnown = false
  private var lastFrameTime: UInt32 = 0
  private var lastFrames = 0
  private var lastMicroseconds = 0
  /// Frames by which the server's periods are later than they were, forgotten within some seconds.
  private var lag = 0
  /// Calls that found the frame time where it was, since it last moved.
  private var repeats = 0

  public init(sampleRate: Int, counting: FrameCounting = .withThisPeriod) {
    self.sampleRate = sampleRate
    self.counting = counting
  }

  /// Freewheel, where frames take no time: whatever comes next follows.
  @_noLocks @_noAllocation
  public mutating func forget() {
    isKnown = false
    lag = 0
  }

  /// - Parameters:
  ///   - frameTime: of the period's first frame, as the server counts.
  ///   - microseconds: when the frame time was read, on the monotonic clock.
  @_noLocks @_noAllocation
  public mutating func advance(frameTime: UInt32, microseconds: Int, frames: Int) -> Timing {
    var timing = Timing(microseconds: microseconds)
    timing.frame = Int(frameTime)
    if isKnown {
      // One call that was owed, and one in reserve; a frame time that never moves is no clock.
      if frameTime == lastFrameTime, repeats < 2 {
        repeats &+= 1
        timing.isRepeat = true
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
        timing.skippedFrames = max(0, elapsed &- lastFrames &+ period / 2) / period &* period
        lag = 0
      }
    }
    isKnown = true
    if frameTime != lastFrameTime { repeats = 0 }
    lastFrameTime = frameTime
    lastFrames = frames
    lastMicroseconds = microseconds
    return timing
  }
}
