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
}
