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

/// Compares the server's frame time with the frames that came, period by period.
///
/// The frame time of JACK 2 counts every period that the server runs, and stands still while the server does; so a
/// jump of it is a stall of ours, frame-exact, and time that it does not account for is a stall of the server's.
public struct Timeline {
  /// A server that is late by less is only busy.
  @inlinable public static var shortestPause: Int {
    @_noLocks @_noAllocation
    get { 50_000 }
  }

  private let sampleRate: Int
  private var isKnown = false
  private var expected: UInt32 = 0
  private var lastFrames = 0
  private var lastMicroseconds = 0

  public init(sampleRate: Int) { self.sampleRate = sampleRate }

  /// Freewheel, where frames have no time: whatever comes next follows.
  @_noLocks @_noAllocation
  public mutating func forget() { isKnown = false }

  /// - Parameters:
  ///   - frameTime: of the period's first frame, as the server counts.
  ///   - microseconds: when the period came, on the monotonic clock.
  @_noLocks @_noAllocation
  public mutating func advance(frameTime: UInt32, microseconds: Int, frames: Int) -> Timing {
    var timing = Timing(microseconds: microseconds)
    timing.frame = Int(frameTime)
    if isKnown {
      let jump = Int(Int32(bitPattern: frameTime &- expected))
      // Where the period changes, the server counts the old one with the length of the new.
      let skipped = frames == lastFrames ? jump : 0
      if skipped < 0, -skipped <= 2 &* frames {
        timing.isRepeat = true
        return timing
      }
      // A clock that was set back further is another one.
      timing.skippedFrames = max(0, skipped)
      let played = (lastFrames &+ timing.skippedFrames) &* 1_000_000 / max(1, sampleRate)
      let paused = microseconds &- lastMicroseconds &- played
      if paused >= Self.shortestPause { timing.pausedMicroseconds = paused }
    }
    isKnown = true
    expected = frameTime &+ UInt32(truncatingIfNeeded: frames)
    lastFrames = frames
    lastMicroseconds = microseconds
    return timing
  }
}
