import Realtime

/// Simulates a server's clocks as a client reads them: frame time and the monotonic clock, period by period.
struct SimulatedServer {
  let sampleRate: Int
  let counting: FrameCounting
  private(set) var frameTime: UInt32
  /// Frames played since the start of the first period.
  private(set) var played = 0
  /// Length of the present period.
  private(set) var frames = 0
  private var microseconds = 0.0

  init(sampleRate: Int = 48_000, counting: FrameCounting = .withThisPeriod, frameTime: UInt32 = 0) {
    self.sampleRate = sampleRate
    self.counting = counting
    self.frameTime = frameTime
  }

  /// Begins the next period.
  mutating func play(_ next: Int) {
    played += frames
    microseconds += 1_000_000 * Double(frames) / Double(sampleRate)
    frameTime &+= UInt32(counting == .position ? frames : next)
    frames = next
  }

  /// The client stalls: the server plays periods that it does not see.
  mutating func play(seconds: Double, period: Int) {
    for _ in 0..<Int(seconds * Double(sampleRate)) / period { play(period) }
  }

  /// The server stalls: there are no frames.
  mutating func pause(seconds: Double) { microseconds += 1_000_000 * seconds }

  /// Resets the server's frame time to another base.
  mutating func jump(frames: Int) { frameTime &+= UInt32(truncatingIfNeeded: frames) }

  /// The timing computed by a callback that runs `late` after the start of the present period.
  func look(_ timeline: inout Timeline, late: Int = 0) -> Timing {
    timeline.advance(
      frameTime: frameTime, microseconds: Int(microseconds) + late, frames: frames,
      start: counting == .position ? Int(microseconds) : nil)
  }
}
