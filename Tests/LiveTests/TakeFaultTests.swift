import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("Takes under faults") struct TakeFaultTests {
    /// Counts frames outside the sidecar's gaps that do not hold the server's frame time, and frames inside
    /// them that hold any. Periods that the clock itself missed, or in which it was late, do not count: its port repeats
    /// old samples there. They may be a quarter of the take at most.
    func misplacedFrames(_ sound: [Float], _ gaps: [Sidecar.Gap], _ clock: FrameClock) throws -> Int {
      let first = try #require(sound.firstIndex { FrameClock.time($0) != nil })
      let origin = FrameClock.time(sound[first])! - first
      var isGap = [Bool](repeating: false, count: sound.count)
      for gap in gaps { for n in gap.frame..<gap.frame + gap.frames { isGap[n] = true } }
      var isUnknown = [Bool](repeating: false, count: sound.count)
      for span in try clock.missed() {
        let start = (span.lowerBound - origin) & 0x7F_FFFF
        for n in start..<start + span.count where n < sound.count { isUnknown[n] = true }
      }
      let unknown = isUnknown.count { $0 }
      try #require(
        unknown * 4 <= sound.count, "the clock was late or absent for \(unknown) of \(sound.count) frames")
      return sound.indices.count { n in
        let time = FrameClock.time(sound[n])
        return isGap[n] ? time != nil : time != (origin + n) & 0x7F_FFFF && !isUnknown[n]
      }
    }

    @Test(
      "R10: a take during which Pinna was stopped for 3 s has its full length, with silence for the missing time"
    )
    func stall() throws {
      // A synchronous server would wait for Pinna instead of playing on.
      let (graph, clock) = try LiveGraph.clocked(period: 1024)
      let path = try graph.startTake(frames: 24_000)
      graph.program.signal(SIGSTOP)
      // The clock is in the server's periods, and it is what they last.
      try clock.wait(frames: 144_000)
      graph.program.signal(SIGCONT)
      try clock.wait(frames: 48_000)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.isOneSentence && stop.error.contains("are silence"), "\(stop)")
      let document = try TakeFiles.sidecar(path)
      let raw = try TakeFiles.microphones(path)
      let outputs = try AudioClip(path: path)
      #expect(document.frames == raw.frames && raw.frames == outputs.frames)
      let longest = try #require(document.gaps.max { $0.frames < $1.frames })
      #expect(longest.cause == .stall && abs(longest.frames - 144_000) < 4800, "\(longest)")
      #expect(document.pauses.isEmpty, "\(document.pauses)")
      let wrong = try misplacedFrames(raw.channels[0], document.gaps, clock)
      #expect(wrong == 0)
      Faults.report(
        "R10", done: "pinna stopped 3 s during a take: frames out of their place", measured: "\(wrong)",
        limit: "0", kept: wrong == 0)
      withExtendedLifetime(clock) {}
    }

    @Test(
      "R11: a take during which jackd was stopped for 3 s gets no extra frames, and its sidecar has the duration"
    )
    func serverStall() throws {
      // The synchronous server waits for the clock and for Pinna, so that only frames that never existed are
      // missing.
      let (graph, clock) = try LiveGraph.clocked(period: 128, synchronous: true)
      let path = try graph.startTake(frames: 24_000)
      kill(graph.server.pid, SIGSTOP)
      let stopped = ContinuousClock.now
      try #require(try waitUntil(seconds: 10) { try graph.status()["server"] as? String == "stalled" })
      _ = waitUntil(seconds: 5) { .now - stopped >= .seconds(3) }
      kill(graph.server.pid, SIGCONT)
      let gap = ContinuousClock.now - stopped
      try clock.wait(frames: 48_000)
      try graph.stopTake(path)
      let document = try TakeFiles.sidecar(path)
      #expect(document.gaps.isEmpty, "\(document.gaps)")
      let pause = try #require(document.pauses.max { $0.seconds < $1.seconds })
      let off = Duration.seconds(pause.seconds) - gap
      let worst = max(off, .zero - off)
      let wrong = try misplacedFrames(TakeFiles.microphones(path).channels[0], document.gaps, clock)
      #expect(wrong == 0)
      #expect(worst <= Faults.patience(.milliseconds(10)), "\(worst)")
      Faults.report(
        "R11", done: "jackd stopped 3 s during a take: what the sidecar says, off by", took: worst,
        limit: .milliseconds(10))
      withExtendedLifetime(clock) {}
    }
  }
}
