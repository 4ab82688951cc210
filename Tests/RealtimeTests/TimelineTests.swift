import Realtime
import TestSupport
import Testing

@Suite("The timeline") struct TimelineTests {
  /// Periods of 64 frames at 64 kHz: one per millisecond.
  func times(_ calls: [(frameTime: UInt32, milliseconds: Int, frames: Int)]) -> [Timing] {
    var timeline = Timeline(sampleRate: 64000)
    return calls.map {
      timeline.advance(
        frameTime: $0.frameTime, microseconds: 1000 * $0.milliseconds, frames: $0.frames)
    }
  }

  @Test("R10: frames lost in a stall of Pinna are counted, also if the frame time wraps")
  func skips() {
    for start: UInt32 in [0, 1000, .max - 100] {
      let found = times([
        (start, 0, 64), (start &+ 64, 1, 64), (start &+ 64 * 3001, 3001, 64),
        (start &+ 64 * 3002, 3002, 64),
      ])
      #expect(found.map(\.skippedFrames) == [0, 0, 64 * 2999, 0])
      #expect(found.allSatisfy { $0.pausedMicroseconds == 0 && !$0.isRepeat })
    }
  }

  @Test("R11: server stalls are detected, and the delays of a busy server are ignored")
  func pauses() {
    let found = times([(0, 0, 64), (64, 1, 64), (128, 3001, 64), (192, 3050, 64), (256, 3051, 64)])
    #expect(found.map(\.pausedMicroseconds) == [0, 0, 2_999_000, 0, 0])
    #expect(found.allSatisfy { $0.skippedFrames == 0 })
  }

  @Test("a repeated period is detected")
  func repeats() {
    let found = times([(0, 0, 64), (64, 1, 64), (64, 2, 64), (192, 3, 64)])
    #expect(found.map(\.isRepeat) == [false, false, true, false])
    #expect(found.map(\.skippedFrames) == [0, 0, 0, 64])
  }

  @Test("a late callback on PipeWire repeats the frames of the period before, also where the period changes")
  func repeatsAtAChange() {
    var timeline = Timeline(sampleRate: 48_000, counting: .position)
    let found = [(0, 0, 256), (512, 10_000, 256), (512, 10_100, 1024), (1536, 31_000, 1024)].map {
      timeline.advance(frameTime: $0.0, microseconds: $0.1, frames: $0.2)
    }
    #expect(found.map(\.skippedFrames) == [0, 256, 0, 0])
    #expect(found.map(\.repeatedFrames) == [0, 0, 256, 0])
  }

  @Test("R13: a change of period is not mistaken for a stall")
  func periods() {
    let found = times([(0, 0, 64), (128, 1, 128), (256, 3, 128), (320, 5, 64), (384, 6, 64)])
    #expect(
      found.allSatisfy { $0.skippedFrames == 0 && !$0.isRepeat && $0.pausedMicroseconds == 0 })
  }

  static let countings: [FrameCounting] = [.withThisPeriod, .position]
  static let lengths: [(Int, Int)] = [(64, 4096), (4096, 64), (16, 8192), (100, 441), (128, 128)]

  @Test(
    "R46: if the period changes while Pinna stalls, every frame that the server played is counted",
    arguments: countings, lengths)
  func periodChangesInAStall(_ counting: FrameCounting, _ lengths: (old: Int, new: Int)) {
    let (old, new) = lengths
    for (before, after) in [(0.5, 0.5), (0, 0.5), (0.5, 0)] {
      var timeline = Timeline(sampleRate: 48_000, counting: counting)
      var server = SimulatedServer(counting: counting)
      server.play(old)
      _ = server.look(&timeline)
      let seen = old
      server.play(seconds: before, period: old)
      server.play(seconds: after, period: new)
      server.play(new)
      let timing = server.look(&timeline)
      #expect(timing.skippedFrames == server.played - seen)
      #expect(timing.pausedMicroseconds == 0)
    }
  }

  @Test(
    "R46: a period that changes while the server stalls is a pause, and no frame is missing",
    arguments: countings)
  func periodChangesInAPause(_ counting: FrameCounting) {
    for (old, new) in Self.lengths {
      var timeline = Timeline(sampleRate: 48_000, counting: counting)
      var server = SimulatedServer(counting: counting)
      server.play(old)
      _ = server.look(&timeline)
      server.pause(seconds: 3)
      server.play(new)
      let timing = server.look(&timeline)
      #expect(timing.skippedFrames == 0 && timing.pausedMicroseconds == 3_000_000)
    }
  }

  @Test(
    "R31: a frame time that jumps by hours counts as the elapsed time, or as nothing if none elapsed",
    arguments: countings, [3, 0.1, 12.4, 20, -0.1, -3, -12] as [Double])
  func baseJumps(_ counting: FrameCounting, _ hours: Double) {
    for stall in [0, 0.5, 3] {
      var timeline = Timeline(sampleRate: 48_000, counting: counting)
      var server = SimulatedServer(counting: counting)
      for _ in 0..<10 {
        server.play(128)
        #expect(server.look(&timeline).skippedFrames == 0)
      }
      let before = server.played + 128
      server.play(seconds: stall, period: 128)
      server.jump(frames: Int(hours * 3600 * 48_000))
      server.play(128)
      let timing = server.look(&timeline)
      #expect(abs(timing.skippedFrames - (server.played - before)) <= 128, "\(timing)")
      #expect(!timing.isRepeat)
      server.play(128)
      #expect(server.look(&timeline).skippedFrames == 0)
    }
  }

  @Test(
    "R31: when PipeWire's frame time is reset, a callback that comes late adds no gap, and one after it hides none",
    arguments: [0, 0.4, 0.6, 0.95, 3], [0, 1, 5])
  func lateReset(_ periods: Double, _ missed: Int) {
    for isLast in [false, true] {
      var timeline = Timeline(sampleRate: 48_000, counting: .position)
      var server = SimulatedServer(counting: .position)
      let late = Int(periods * 128 / 0.048)
      server.play(128)
      server.play(128)
      _ = server.look(&timeline, late: isLast ? 0 : min(late, 2666))
      for _ in 0..<missed { server.play(128) }
      server.jump(frames: -480_000_000)
      server.play(128)
      #expect(server.look(&timeline, late: isLast ? late : 0).skippedFrames == missed * 128, "\(isLast)")
    }
  }

  /// Random histories: periods of many lengths, received or missed, pauses, and late calls.
  @Test(
    "R46: with periods that change at any time, received and skipped frames add up to all frames played",
    arguments: countings, 0..<200)
  func histories(_ counting: FrameCounting, _ seed: Int) {
    var random = SeededNoise(seed: UInt64(seed))
    // The frame time wraps in the middle.
    var server = SimulatedServer(counting: counting, frameTime: .max - 100_000)
    var timeline = Timeline(sampleRate: 48_000, counting: counting)
    var period = 64
    var counted = 0
    var paused = 0.0
    server.play(period)
    var seen = server.frames
    _ = server.look(&timeline)
    for _ in 0..<200 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: period = [16, 48, 64, 100, 441, 1024, 4096, 8192].randomElement(using: &random)!
      case 1:
        for _ in 0..<Int.random(in: 1...300, using: &random) {
          if Int.random(in: 0..<50, using: &random) == 0 {
            period = [16, 64, 100, 4096].randomElement(using: &random)!
          }
          server.play(period)
        }
      case 2:
        let seconds = Double.random(in: 0.1...5, using: &random)
        server.pause(seconds: seconds)
        paused += seconds
      default: break
      }
      counted += seen
      server.play(period)
      seen = server.frames
      let late = Int.random(in: 0...200, using: &random)
      let timing = server.look(&timeline, late: late)
      counted += timing.skippedFrames
      paused -= Double(timing.pausedMicroseconds) / 1e6
      #expect(!timing.isRepeat)
    }
    #expect(counted == server.played)
    // Lateness counts as a pause, and is corrected later.
    #expect(abs(paused) < 0.02)
  }

  @Test(
    "R31: a forward jump up to the elapsed time is accepted; beyond it, the elapsed time counts")
  func bound() {
    for (frames, skipped) in [(48_000, 48_000), (48_128, 48_128), (48_000 + 128 + 49, 48_000)] {
      var timeline = Timeline(sampleRate: 48_000)
      _ = timeline.advance(frameTime: 0, microseconds: 0, frames: 128)
      // 48 128 frames later: one period, and one second that Pinna missed.
      let timing = timeline.advance(
        frameTime: UInt32(frames + 128), microseconds: 1_002_667, frames: 128)
      #expect(timing.skippedFrames == skipped, "\(frames)")
    }
  }

  @Test("R31: with a frame time that never moves, periods are counted by their length")
  func standingClock() {
    var timeline = Timeline(sampleRate: 48_000)
    var (repeats, skipped) = (0, 0)
    for n in 0..<100 {
      let timing = timeline.advance(frameTime: 7, microseconds: n * 2667, frames: 128)
      if timing.isRepeat { repeats += 1 }
      skipped += timing.skippedFrames
    }
    #expect(repeats == 2 && skipped == 2 * 128)
  }

  @Test(
    "R31: entering and leaving freewheel, where frames take no time, is neither a gap nor a pause")
  func freewheel() {
    var timeline = Timeline(sampleRate: 48_000)
    var server = SimulatedServer()
    func look() -> Timing { server.look(&timeline) }
    server.play(128)
    _ = look()
    // The first periods of freewheel, before its notification.
    for n in 1...5 {
      let timing = timeline.advance(
        frameTime: 128 + UInt32(128 * n), microseconds: 10 * n, frames: 128)
      #expect(timing.skippedFrames == 0 && timing.pausedMicroseconds == 0 && !timing.isRepeat)
    }
    timeline.forget()
    // Hours of audio in a second, then out of freewheel.
    let after = timeline.advance(frameTime: 500_000_000, microseconds: 1_000_000, frames: 128)
    #expect(after.skippedFrames == 0 && after.pausedMicroseconds == 0 && !after.isRepeat)
    let next = timeline.advance(frameTime: 500_000_128, microseconds: 1_002_667, frames: 128)
    #expect(next.skippedFrames == 0 && next.pausedMicroseconds == 0 && !next.isRepeat)
  }

  @Test("periods missed while a late server catches up are counted")
  func catchingUp() {
    var timeline = Timeline(sampleRate: 48_000)
    _ = timeline.advance(frameTime: 64, microseconds: 0, frames: 64)
    // 20 ms late, then 15 periods at once, of which Pinna receives the last.
    _ = timeline.advance(frameTime: 128, microseconds: 21_333, frames: 64)
    let timing = timeline.advance(frameTime: 128 + 15 * 64, microseconds: 21_833, frames: 64)
    #expect(timing.skippedFrames == 14 * 64 && timing.pausedMicroseconds == 0)
  }
}
