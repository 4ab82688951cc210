import AudioFiles
import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// A program that dies. What needs no server is in OfflineTests.
  @Suite("Microphone signals and their warnings") struct InputTests {
    static let noise: [[Float]] = SeededNoise.channels(5, 48_000, amplitude: 0.25, seed: 12)

    /// A player of one microphone's signal, as a separate client.
    func source(_ graph: LiveGraph, to port: String?) throws -> SignalPlayer {
      let source = try SignalPlayer(
        name: "source", server: graph.server.name, channels: [Self.noise[0]], repeats: true)
      if let port { try #require(source.connect(to: [port])) }
      source.start()
      return source
    }

    @Test(
      "R12: a source that dies leaves silence, the take goes on, and the source is reconnected when it returns"
    )
    func sourceDies() throws {
      let graph = try LiveGraph(preset: "phone5")
      let microphone = "pinna:bottom-left"
      let metro = ["-n", "metro", "-b", "240"]
      func start() throws -> Program {
        try Program(
          "/usr/bin/jack_metro", metro,
          environment: graph.jackEnvironment)
      }
      var program: Program? = try start()
      let peer = "metro:240_bpm"
      try #require(waitUntil(seconds: 5) { graph.hasPort(peer) })
      #expect(
        try Program.run("/usr/bin/jack_connect", ["-s", graph.server.name, peer, microphone]).status == 0)
      let kept = try source(graph, to: "pinna:front")
      try graph.waitForLook()
      let path = try #require(try graph.pinna("record", "start", "--json").json()["take"] as? String)
      try graph.waitForTake(frames: 14_400)

      let sender = try graph.sender()
      func sees(_ text: String) -> Bool {
        sender.send("/pinna/status")
        return sender.reply(seconds: 1)?.text.contains(text) ?? false
      }
      let start0 = ContinuousClock.now
      program?.signal(SIGKILL)
      try #require(waitUntil(seconds: 5) { sees("bottom-left has lost metro:240_bpm") })
      let noticed = ContinuousClock.now - start0
      #expect(noticed <= Faults.patience(.milliseconds(100)), "\(noticed)")
      Faults.report("R12", done: "source killed: told", took: noticed, limit: .milliseconds(100))
      #expect(graph.says("bottom-left has lost metro:240_bpm"))
      let status = try graph.status()
      #expect(status["state"] as? String == "recording")
      // Two seconds: the meters hold a peak for 1.5 s.
      try graph.waitForTake(frames: graph.takeFrames() + 96_000)
      let levels = (try graph.status()["levels"] as? [String: Any])?["microphones"] as? [[String: Any]] ?? []
      let silent = levels.first { $0["name"] as? String == "bottom-left" }?["peakDB"] as? Double
      #expect(silent == -150)

      program = try start()
      try #require(waitUntil(seconds: 5) { graph.hasPort(peer) })
      let back = ContinuousClock.now
      try #require(try waitUntil(seconds: 5) { try graph.ports("-c")[microphone] == [peer] })
      let rewired = ContinuousClock.now - back
      #expect(rewired <= Faults.patience(.milliseconds(500)), "\(rewired)")
      Faults.report("R12", done: "source back: wired again", took: rewired, limit: .milliseconds(500))
      #expect(waitUntil(seconds: 1) { !sees("has lost") })
      // An asynchronous server, because a synchronous one does not notice a dead client. On a busy machine it
      // leaves Pinna out of some periods.
      let stop = try graph.pinna("record", "stop")
      let sidecar = try TakeFiles.sidecar(path)
      #expect(stop.status == (sidecar.gaps.isEmpty ? 0 : 7), "\(stop)")
      #expect(sidecar.gaps.allSatisfy { $0.cause == .stall } && sidecar.missing.count <= 1)
      #expect(sidecar.events.contains { $0.what == "bottom-left has lost metro:240_bpm" })
      let take = try AudioClip(path: path)
      // More than two seconds of the take passed without the source.
      #expect(take.frames > 96_000 && silences(in: take.channels[0], shortest: 4800).isEmpty)
      // The program is slow to react to TERM.
      program?.signal(SIGKILL)
      withExtendedLifetime(kept) {}
    }
  }
}
