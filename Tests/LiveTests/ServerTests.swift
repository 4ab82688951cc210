import AudioFiles
import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("A JACK server that dies") struct ServerTests {
    static let noise: [[Float]] = SeededNoise.channels(5, 48_000, amplitude: 0.25, seed: 4)

    /// The time until `condition` came true, or a minute if it did not.
    func timeUntil(_ condition: () throws -> Bool) rethrows -> Duration {
      let start = ContinuousClock.now
      return try waitUntil(seconds: 15, condition) ? .now - start : .seconds(60)
    }

    /// The settings in a status that Pinna must restore.
    func settings(_ status: [String: Any]) -> NSDictionary {
      let keys = [
        "preset", "device", "dataSource", "polarPattern", "inputOrientation", "preferred", "layout", "gainDB",
        "muted", "microphones", "inputChannels",
      ]
      return status.filter { keys.contains($0.key) } as NSDictionary
    }

    @Test("R4: a dead server is noticed and awaited, and Pinna's connections are restored, but nobody else's")
    func comesBack() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
      var player: SignalPlayer? = try graph.player(Self.noise, repeats: true)
      var recorder: SignalRecorder? = try graph.recorder(seconds: 10)
      player?.start()
      let words = ["--data-source", "front", "--pattern", "cardioid", "--gain", "-6"]
      try #require(try graph.home.pinna(["set"] + words).status == 0)
      // Pinna has recorded all connections by then.
      try graph.waitForLook()
      let before = try graph.status()
      let connections = try graph.ports("-c").filter { $0.key.hasPrefix("pinna:") }
      #expect(before["server"] as? String == "running")
      let start = try graph.pinna("record", "start", "--json")
      let path = try #require(try start.json()["take"] as? String)
      try graph.waitForTake(frames: 48_000)
      let frames = try graph.takeFrames()

      graph.killServer()
      let noticed = timeUntil { graph.program.errorText.contains("the JACK server has gone") }
      #expect(noticed <= Faults.patience(.milliseconds(50)), "\(noticed)")
      Faults.report("R4", done: "jackd killed: noticed", took: noticed, limit: .milliseconds(50))
      let finalised = timeUntil { FileManager.default.fileExists(atPath: path) }
      #expect(finalised < Faults.patience(.milliseconds(500)), "\(finalised)")
      let take = try AudioClip(path: path)
      #expect(take.frames >= frames && take.frames > 30_000)
      try #require(
        waitUntil(seconds: 1) {
          FileManager.default.fileExists(atPath: path.replacing(".wav", with: ".json"))
        })
      let first = try Sidecar.read(path.replacing(".wav", with: ".json"))
      #expect(first.frames == take.frames && first.state == .complete)
      #expect(
        graph.says("\(path): \(take.frames) frames", seconds: 1))

      let gone = try graph.status()
      #expect(gone["server"] as? String == "gone" && gone["state"] as? String == "stopped")
      #expect(settings(gone) == settings(before))
      for request in [["record", "start"], ["set", "--gain", "0"], ["preset", "use", "ring7"]] {
        let refused = try graph.home.pinna(request)
        #expect(refused.status == 3 && refused.isOneSentence, "\(refused)")
        #expect(refused.error.contains("the JACK server has gone"), "\(refused)")
      }
      player = nil
      recorder = nil
      // Pinna looks for the server all this time.
      #expect(try !waitUntil(seconds: 1, every: 20) { try graph.status()["server"] as? String != "gone" })
      let up = try graph.restartServer()
      _ = timeUntil { graph.hasPort("pinna:out_right") && graph.hasPort("pinna:top") }
      let back = ContinuousClock.now - up
      #expect(back <= Faults.patience(.milliseconds(500)), "\(back)")
      Faults.report("R4", done: "jackd back: our ports", took: back, limit: .milliseconds(500))
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "running" })
      #expect(try settings(graph.status()) == settings(before))

      // The other clients return without connections; Pinna restores its own, and no others.
      player = try SignalPlayer(
        name: "player", server: graph.server.name, channels: Self.noise, repeats: true)
      recorder = try SignalRecorder(
        name: "recorder", server: graph.server.name, channels: 3, capacityFrames: 480_000)
      let wired = try timeUntil { try graph.ports("-c").filter { $0.key.hasPrefix("pinna:") } == connections }
      #expect(wired <= Faults.patience(.milliseconds(500)), "\(wired)")
      Faults.report("R4", done: "other ends back: our connections", took: wired, limit: .milliseconds(500))
      #expect(try graph.ports("-c")["recorder:in_3"] == [])
      player?.start()
      #expect(try waitUntil(seconds: 3) { try outputLevel(graph) > -40 })
      let secondTake = try #require(try graph.pinna("record", "start", "--json").json()["take"] as? String)
      try graph.stopTake(secondTake)
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 5)?.status == 0)
      withExtendedLifetime((player, recorder)) {}
    }

    @Test(
      "R4: when libjack hangs closing a dead server's client, Pinna ends with status 3 and the take is whole",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the hanging libjack"))
    func hangingClose() throws {
      let home = try PinnaHome()
      let preload = try Preload.environment(
        "#include <unistd.h>\nint jack_client_close(void *client) { (void)client; for (;;) pause(); }\n",
        home: home)
      let graph = try LiveGraph(preset: "phone5", synchronous: true, home: home, environment: preload)
      let path = try graph.startTake(frames: 24_000)
      graph.killServer()
      let start = ContinuousClock.now
      let end = try #require(graph.program.wait(seconds: 30))
      let took = ContinuousClock.now - start
      #expect(end.status == 3 && end.error.contains("the JACK server has gone"), "\(end)")
      #expect(took >= .seconds(2), "\(took)")
      #expect(took <= Faults.patience(.milliseconds(2500)), "\(took)")
      #expect(try TakeFiles.sidecar(path).state == .complete)
      #expect(try TakeFiles.complaints(path) == [])
      Faults.report(
        "R4", done: "libjack hangs in jack_client_close: ended with status 3", took: took,
        limit: .milliseconds(2500))
    }

    func outputLevel(_ graph: LiveGraph) throws -> Double {
      let outputs = (try graph.status()["levels"] as? [String: Any])?["outputs"] as? [[String: Any]]
      return outputs?.first?["rmsDB"] as? Double ?? -150
    }

    @Test("R4: Pinna reconnects repeatedly, keeps the mute, and stops cleanly while there is no server")
    func againAndAgain() throws {
      let graph = try LiveGraph(preset: "linear8")
      try #require(try graph.pinna("set", "--mute", "on").status == 0)
      for period in [64, 1024] {
        graph.killServer()
        #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
        try graph.restartServer(period: period)
        #expect(
          try waitUntil(seconds: Faults.areHeavy ? 2 : 10) {
            try graph.status()["server"] as? String == "running"
          })
        let status = try graph.status()
        #expect(status["period"] as? Int == period)
        #expect(status["muted"] as? Bool == true && status["preset"] as? String == "linear8")
      }
      graph.killServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 5)?.status == 0)
    }

    @Test("R5: a server back at another rate gets filters for that rate, and no take has two rates")
    func otherRate() throws {
      let graph = try LiveGraph(preset: "linear8", synchronous: true)
      let start = try graph.pinna("record", "start", "--json")
      let first = try #require(try start.json()["take"] as? String)
      try graph.waitForTake(frames: 14_400)
      graph.killServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
      try graph.restartServer(sampleRate: 16000, period: 256)
      // The first design for a rate may take a while.
      let ready = try timeUntil { try graph.status()["server"] as? String == "running" }
      #expect(ready < .seconds(15))
      let status = try graph.status()
      #expect(status["sampleRate"] as? Int == 16000 && status["period"] as? Int == 256)
      let player = try graph.player((0..<8).map { _ in Self.noise[0] }, repeats: true)
      player.start()
      #expect(try waitUntil(seconds: 3) { try outputLevel(graph) > -60 })
      let second = try #require(try graph.pinna("record", "start", "--json").json()["take"] as? String)
      try graph.waitForTake(frames: 4800)
      #expect(try graph.pinna("record", "stop").status == 0)
      let rates = try [first, second].map { try AudioClip(path: $0).sampleRate }
      #expect(rates == [48000, 16000])
      Faults.report(
        "R5", done: "jackd back at 16 kHz: takes before and after", measured: "\(rates) Hz",
        limit: "one rate each", kept: rates == [48000, 16000])
      withExtendedLifetime(player) {}
    }

    @Test("R5: a server back at a rate without filters is refused in words until the next server")
    func unusableRate() throws {
      let graph = try LiveGraph(preset: "linear8")
      graph.killServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
      try graph.restartServer(sampleRate: 4000)
      #expect(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "unusable" })
      let refused = try graph.pinna("record", "start")
      #expect(refused.status == 3 && refused.isOneSentence && refused.error.contains("4000"), "\(refused)")
      #expect(graph.says("4000 Hz"))
      graph.killServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
      try graph.restartServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "running" })
      Faults.report(
        "R5", done: "jackd back at 4 kHz", measured: "\"\(refused.error.dropFirst(7).prefix(60))…\"",
        limit: "a clear refusal", kept: refused.status == 3)
    }
  }
}
