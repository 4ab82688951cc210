import Realtime
import Testing

@Suite("The timeline") struct TimelineTests {
  /// Periods of 64 frames at 64 kHz: one a millisecond.
  func times(_ calls: [(frameTime: UInt32, milliseconds: Int, frames: Int)]) -> [Timing] {
    var timeline = Timeline(sampleRate: 64000)
    return calls.map {
      timeline.advance(frameTime: $0.frameTime, microseconds: 1000 * $0.milliseconds, frames: $0.frames)
    }
  }

  @Test("R10: counts the frames that a stall of ours cost, also where the server's count wraps")
  func skips() {
    for start: UInt32 in [0, 1000, .max - 100] {
      let found = times([
        (start, 0, 64), (start &+ 64, 1, 64), (start &+ 64 * 3001, 3001, 64), (start &+ 64 * 3002, 3002, 64),
      ])
      #expect(found.map(\.skippedFrames) == [0, 0, 64 * 2999, 0])
      #expect(found.allSatisfy { $0.pausedMicroseconds == 0 && !$0.isRepeat })
    }
  }

  @Test("R11: finds time that no frames account for, and no less than a busy server loses")
  func pauses() {
    let found = times([(0, 0, 64), (64, 1, 64), (128, 3001, 64), (192, 3050, 64), (256, 3051, 64)])
    #expect(found.map(\.pausedMicroseconds) == [0, 0, 2_999_000, 0, 0])
    #expect(found.allSatisfy { $0.skippedFrames == 0 })
  }

  @Test("knows a period that it has seen already")
  func repeats() {
    let found = times([(0, 0, 64), (64, 1, 64), (64, 2, 64), (192, 3, 64)])
    #expect(found.map(\.isRepeat) == [false, false, true, false])
    #expect(found.map(\.skippedFrames) == [0, 0, 0, 64])
  }

  @Test("R13: takes no change of period for a stall")
  func periods() {
    let found = times([(0, 0, 64), (128, 1, 128), (256, 3, 128), (320, 5, 64), (384, 6, 64)])
    #expect(found.allSatisfy { $0.skippedFrames == 0 && !$0.isRepeat && $0.pausedMicroseconds == 0 })
  }

  static let lengths: [(Int, Int)] = [(64, 4096), (4096, 64), (16, 8192), (100, 441), (128, 128)]

  @Test(
    "R46: a period that changes while Pinna stands still: every frame that the server played is counted",
    arguments: lengths)
  func periodChangesInAStall(_ old: Int, _ new: Int) {
    withKnownIssue("a skip counts only where the period stayed the same", isIntermittent: old == new) {
      for (before, after) in [(0.5, 0.5), (0, 0.5), (0.5, 0)] {
        var timeline = Timeline(sampleRate: 48_000)
        var server = SimulatedServer()
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
  }

  @Test("R46: a period that changes while the server stands still is a pause, and no frame is missing")
  func periodChangesInAPause() {
    for (old, new) in Self.lengths {
      var timeline = Timeline(sampleRate: 48_000)
      var server = SimulatedServer()
      server.play(old)
      _ = server.look(&timeline)
      server.pause(seconds: 3)
      server.play(new)
      let timing = server.look(&timeline)
      #expect(timing.skippedFrames == 0 && timing.pausedMicroseconds == 3_000_000)
    }
  }

  @Test(
    "R31: a frame time that jumps by hours costs nothing where no time passed, and elapsed time where some did",
    arguments: [3, 0.1, 12.4, 20, -0.1, -3, -12] as [Double])
  func baseJumps(_ hours: Double) {
    withKnownIssue("frame time is believed", isIntermittent: hours < 0) {
      for stall in [0, 0.5, 3] {
        var timeline = Timeline(sampleRate: 48_000)
        var server = SimulatedServer()
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
  }
}
