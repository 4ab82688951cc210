import Realtime

/// A server's clocks as a client reads them, without a server: frame time and the monotonic clock, period by period.
struct SimulatedServer {
  let sampleRate: Int
  let counting: FrameCounting
  private(set) var frameTime: UInt32
  /// Frames that the server has played since the first period began.
  private(set) var played = 0
  /// Of the period that plays now.
  private(set) var frames = 0
  private var microseconds = 0.0

  init(sampleRate: Int = 48_000, counting: FrameCounting = .withThisPeriod, frameTime: UInt32 = 0) {
    self.sampleRate = sampleRate
    self.counting = counting
    self.frameTime = frameTime
  }

  /// The next period begins.
  mutating func play(_ next: Int) {
    played += frames
    microseconds += 1_000_000 * Double(frames) / Double(sampleRate)
    frameTime &+= UInt32(counting == .position ? frames : next)
    frames = next
  }

  /// The server plays for so long what the client does not see.
  mutating func play(seconds: Double, period: Int) {
    for _ in 0..<Int(seconds * Double(sampleRate)) / period { play(period) }
  }

  /// The server stands still: no frames exist.
  mutating func pause(seconds: Double) { microseconds += 1_000_000 * seconds }

  /// The server counts from another base on.
  mutating func jump(frames: Int) { frameTime &+= UInt32(truncatingIfNeeded: frames) }

  /// What the callback makes of the period that plays now, when it runs `late` after its beginning.
  func look(_ timeline: inout Timeline, late: Int = 0) -> Timing {
    timeline.advance(frameTime: frameTime, microseconds: Int(microseconds) + late, frames: frames)
  }
}
