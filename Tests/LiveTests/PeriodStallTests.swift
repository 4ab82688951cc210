import AudioFiles
import CJack
import Foundation
import LiveSupport
import Recording
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  @Suite("Period changes during stalls") struct PeriodStallTests {
    /// A client that logs every period's frame time and length.
    final class PeriodLog: @unchecked Sendable {
      // Unchecked: periods are read after the client is closed.
      private let client: OpaquePointer
      private(set) var periods: [(time: UInt32, frames: UInt32)] = []
      let frames = Atomic<Int>(0)

      init(server: String) throws {
        var status = JackStatus(rawValue: 0)
        guard let client = pinna_jack_client_open("period-log", JackNoStartServer, &status, server) else {
          throw SupportError("the log is not let in: status \(status.rawValue)")
        }
        self.client = client
        periods.reserveCapacity(100_000)
        jack_set_process_callback(
          client,
          { frames, context in
            let log = Unmanaged<PeriodLog>.fromOpaque(context!).takeUnretainedValue()
            log.periods.append((jack_last_frame_time(log.client), frames))
            log.frames.wrappingAdd(Int(frames), ordering: .releasing)
            return 0
          }, Unmanaged.passUnretained(self).toOpaque())
        jack_activate(client)
      }

      func close() { jack_client_close(client) }
    }

    @Test(
      "R46: jackd2's frame time grows by the length of the period that begins, even where the length changes")
    func counting() throws {
      // In a synchronous server every client takes part in every period.
      let graph = try LiveGraph(preset: "phone5", period: 64, synchronous: true)
      let log = try PeriodLog(server: graph.server.name)
      for period in [4096, 64, 4096, 100, 1024, 64] {
        #expect(graph.requestPeriod(period))
        let end = log.frames.load(ordering: .acquiring) + 9600
        try #require(
          waitUntil(seconds: 20) { log.frames.load(ordering: .acquiring) >= end }, "no periods of \(period)")
      }
      log.close()
      let wrong = zip(log.periods, log.periods.dropFirst()).count { $1.time &- $0.time != $1.frames }
      let changes = zip(log.periods, log.periods.dropFirst()).count { $0.frames != $1.frames }
      #expect(wrong == 0 && changes == 6 && log.periods.count > 200)
    }

    /// The frames that the server played during a take of the frame clock: from the start of its first period to the end of
    /// its last as the server counts, corrected for the changed length.
    private func framesPlayed(during clip: [Float], _ periods: [Int]) throws -> Int {
      let first = try #require(FrameClock.time(clip[0]))
      // An asynchronous server on a busy machine may leave the clock out of its last period.
      let end = try #require(clip.lastIndex { FrameClock.time($0) != nil })
      let rest = clip.count - 1 - end
      try #require(rest <= max(256, periods.last!), "the last \(rest) frames are silent")
      let last = try #require(FrameClock.time(clip[end])) + rest
      return (last - first) & 0x7F_FFFF + 1 + periods[0] - periods.last!
    }

    @Test(
      "R46: when the period changes while Pinna is stopped, every played frame is in the take or in a gap",
      .nightly,
      arguments: [[64, 4096], [4096, 64]])
    func ownStall(_ periods: [Int]) throws {
      let (graph, clock) = try LiveGraph.clocked(period: periods[0])
      let path = try graph.startTake(frames: 24_000)
      graph.program.signal(SIGSTOP)
      // Long enough to miss periods of the old length, and of the new length below.
      try clock.wait(frames: 14_400)
      // jackd notifies every client of a new period and waits some seconds for one that is stopped.
      for period in periods.dropFirst() {
        let changed = try Program.run(
          "/usr/bin/jack_bufsize", ["\(period)"],
          environment: graph.jackEnvironment, seconds: 60)
        #expect(changed.status == 0, "\(changed)")
        try clock.wait(frames: 14_400)
      }
      graph.program.signal(SIGCONT)
      try #require(try waitUntil(seconds: 10) { try graph.status()["period"] as? Int == periods.last })
      try clock.wait(frames: 24_000)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7, "\(stop)")
      let document = try TakeFiles.sidecar(path)
      let clip = try TakeFiles.microphones(path).channels[0]
      let gap = try #require(document.gaps.max { $0.frames < $1.frames })
      #expect(gap.cause == .stall && document.frames == clip.count)
      let played = try framesPlayed(during: clip, periods)
      #expect(clip.count == played, "\(clip.count) frames, \(played) played, \(document.gaps)")
      Faults.report(
        "R46",
        done:
          "period \(periods.map(String.init).joined(separator: " → ")) while pinna stood still: frames in the take and its gaps, of those played",
        measured: "\(clip.count) of \(played)", limit: "all", kept: clip.count == played)
      withExtendedLifetime(clock) {}
    }

    @Test(
      "R46: when the period changes right after the server stalled, the take has a pause and every played frame",
      arguments: [[64, 4096], [4096, 64]])
    func serverStall(_ periods: [Int]) throws {
      let (graph, clock) = try LiveGraph.clocked(period: periods[0], synchronous: true)
      let path = try graph.startTake(frames: 14_400)
      kill(graph.server.pid, SIGSTOP)
      let request = try Program(
        "/usr/bin/jack_bufsize", ["\(periods[1])"],
        environment: graph.jackEnvironment)
      // At least a second of stall.
      try #require(try waitUntil(seconds: 10) { try graph.status()["server"] as? String == "stalled" })
      kill(graph.server.pid, SIGCONT)
      #expect(request.wait(seconds: 20)?.status == 0)
      try #require(try waitUntil(seconds: 10) { try graph.status()["period"] as? Int == periods[1] })
      try clock.wait(frames: 24_000)
      _ = try graph.pinna("record", "stop")
      let document = try TakeFiles.sidecar(path)
      let clip = try TakeFiles.microphones(path).channels[0]
      let played = try framesPlayed(during: clip, periods)
      #expect(
        clip.count == played && document.pauses.contains { $0.seconds > 0.8 },
        "\(document.gaps) \(document.pauses)")
      Faults.report(
        "R46",
        done:
          "period \(periods[0]) → \(periods[1]) while jackd stood still: frames in the take and its gaps, of those played",
        measured: "\(clip.count) of \(played)", limit: "all", kept: clip.count == played)
      withExtendedLifetime(clock) {}
    }
  }
}
