import AudioFiles
import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("Pinna in a JACK graph") struct GraphTests {
    static let loop: [[Float]] = SeededNoise.channels(5, 48_000, amplitude: 0.25, seed: 22)

    @Test("latency is reported in both directions for every device")
    func latency() throws {
      let graph = try LiveGraph(preset: "phone5")
      let player = try graph.player(Self.loop)
      let recorder = try graph.recorder(seconds: 1)
      for preset in ["phone5", "ring7", "phone5"] {
        try #require(try graph.pinna("preset", "use", preset).status == 0)
        let frames = try #require(try graph.status()["latencyFrames"] as? Int)
        #expect(frames == 64)
        try #require(player.connect(to: try graph.microphones().prefix(5).map { "pinna:\($0)" }))
        let expected = "[ \(frames) \(frames) ] frames"
        func latencies(_ port: String) throws -> [String] { try graph.ports("-l")[port] ?? [] }
        // The server asks its clients in turn.
        _ = try waitUntil(seconds: 2) {
          try latencies("recorder:in_1").contains("port capture latency = " + expected)
            && latencies("player:out_2").contains("port playback latency = " + expected)
        }
        #expect(try latencies("recorder:in_1").contains("port capture latency = " + expected))
        #expect(try latencies("pinna:out_left").contains("port capture latency = " + expected))
        #expect(try latencies("pinna:out_right").contains("port capture latency = " + expected))
        #expect(try latencies("player:out_2").contains("port playback latency = " + expected))
        for microphone in try graph.microphones() {
          #expect(try latencies("pinna:" + microphone).contains("port playback latency = " + expected))
        }
      }
      withExtendedLifetime((player, recorder)) {}
    }

    @Test("S22: Pinna follows changes of the period while sound plays, without a silent period")
    func periods() throws {
      // An asynchronous server may change the period while Pinna, late, still runs the last one.
      let graph = try LiveGraph(preset: "phone5", period: 128, synchronous: true)
      let player = try graph.player(Self.loop, repeats: true)
      let recorder = try graph.recorder(seconds: 60)
      player.start()
      try #require(waitUntil(seconds: 10) { player.isFinished })
      // PipeWire's periods are powers of two.
      for period in LiveGraph.isPipeWire ? [64, 1024, 32, 512, 128] : [64, 1000, 32, 48, 512, 128] {
        #expect(graph.requestPeriod(period))
        try recorder.wait(frames: 14_400)
        let status = try graph.status()
        #expect(status["period"] as? Int == period)
        #expect(status["unpreparedPeriods"] as? Int == 0)
      }
      let sound = recorder.everything
      let start = try #require(sound[2].firstIndex { $0 != 0 })
      // The server may interrupt its own stream; Pinna may be silent only where the player was.
      let allowed = silences(in: sound[2], shortest: 16).map { $0.lowerBound - 4096..<$0.upperBound + 4096 }
      for channel in sound.prefix(2) {
        for silence in silences(in: channel, shortest: 16) where silence.lowerBound > start + 4096 {
          #expect(allowed.contains { $0.overlaps(silence) }, "silent in frames \(silence)")
        }
        #expect(abs(level(channel.suffix(4800)) - level(channel[(start + 9600)..<(start + 14_400)])) < 3)
      }
      withExtendedLifetime(player) {}
    }

    @Test(
      "S22: when the server dies during a take, pinna run --no-reconnect ends with 3 and the take is whole")
    func serverDies() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true, options: ["--no-reconnect"])
      let player = try graph.player(Self.loop, repeats: true)
      player.start()
      let start = try graph.pinna("record", "start", "--json")
      let path = try #require(try start.json()["take"] as? String)
      try graph.waitForTake(frames: 48_000)
      let frames = try graph.takeFrames()
      graph.killServer()
      let killed = ContinuousClock.now
      let outcome = try #require(graph.program.wait(seconds: 10), "pinna run does not notice")
      #expect(ContinuousClock.now - killed < .seconds(3))
      #expect(outcome.status == 3, "\(outcome)")
      #expect(outcome.error.components(separatedBy: "the JACK server has gone").count == 2, "\(outcome)")
      #expect(!outcome.error.contains("when it is back"), "\(outcome)")
      let take = try AudioClip(path: path)
      #expect(take.frames >= frames && take.frames > 30_000)
      #expect(outcome.error.contains("\(path): \(take.frames) frames"), "\(outcome)")
      let sidecar = try Sidecar.read(path.replacing(".wav", with: ".json"))
      #expect(sidecar.frames == take.frames && sidecar.state == .complete)
      let names = try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder).sorted()
      let name = URL(filePath: path).lastPathComponent
      #expect(names == [name.replacing(".wav", with: ".json"), name])
      #expect(try graph.pinna("status").status == 4)
      withExtendedLifetime(player) {}
    }
  }
}
