import AudioFiles
import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Microphone signals and their warnings") struct InputTests {
    static let noise: [[Float]] = {
      var noise = SeededNoise(seed: 12)
      return (0..<5).map { _ in noise.samples(48_000, amplitude: 0.25) }
    }()

    func warnings(_ graph: LiveGraph) throws -> [String] {
      try #require(try graph.status()["warnings"] as? [String])
    }

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
      #expect(graph.program.errorText.contains("bottom-left has lost metro:240_bpm"))
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

    @Test("a connection that the user removed stays removed")
    func disconnected() throws {
      let graph = try LiveGraph(preset: "phone5")
      let source = try source(graph, to: "pinna:front")
      try graph.waitForLook()
      let ends = ["source:out_1", "pinna:front"]
      #expect(try Program.run("/usr/bin/jack_disconnect", ["-s", graph.server.name] + ends).status == 0)
      // Long after Pinna has noticed, and after the 200 ms for which the connection counts as lost.
      usleep(600_000)
      try graph.waitForLook()
      #expect(try graph.ports("-c")["pinna:front"] == [])
      #expect(try warnings(graph).allSatisfy { !$0.contains("lost") })
      withExtendedLifetime(source) {}
    }

    @Test(
      "R14: a microphone with invalid samples is muted, named in status, reported once, and restored when clean"
    )
    func garbage() throws {
      let graph = try LiveGraph(preset: "phone5")
      var channels = Self.noise
      channels[2][100] = .nan
      channels[2][200] = .infinity
      // Played once; silence follows.
      let player = try graph.player(channels)
      let name = try graph.microphones()[2]
      player.start()
      #expect(try waitUntil(seconds: 1) { try graph.status()["mutedMicrophones"] as? [String] == [name] })
      #expect(try waitUntil(seconds: 1) { try warnings(graph).contains { $0.hasPrefix("\(name) is muted") } })
      #expect(try waitUntil(seconds: 3) { try graph.status()["mutedMicrophones"] as? [String] == [] })
      let reports = graph.program.errorText.components(separatedBy: "\(name) is muted").count - 1
      #expect(reports == 1)
      withExtendedLifetime(player) {}
    }

    @Test("missing, silent and duplicate microphone signals are reported once and listed in status")
    func suspicious() throws {
      let graph = try LiveGraph(preset: "phone5")
      let names = try graph.microphones()
      #expect(try waitUntil(seconds: 5) { try warnings(graph) == ["no microphone is connected"] })
      // The third microphone is silent, the fourth shares the second's source, the fifth is not connected.
      let channels = [Self.noise[0], Self.noise[1], [Float](repeating: 0, count: 48_000)]
      let player = try SignalPlayer(
        name: "player", server: graph.server.name, channels: channels, repeats: true)
      #expect(player.connect(to: names.prefix(3).map { "pinna:\($0)" }))
      let patch = try Program.run(
        "/usr/bin/jack_connect", ["-s", graph.server.name, "player:out_2", "pinna:\(names[3])"])
      #expect(patch.status == 0, "\(patch)")
      player.start()
      let expected = [
        "\(names[1]) and \(names[3]) carry the same signal: both are connected to player:out_2",
        "\(names[2]) is silent while others are not", "not connected: \(names[4])",
      ]
      #expect(try waitUntil(seconds: 10) { try warnings(graph).sorted() == expected.sorted() })
      for sentence in expected {
        #expect(graph.program.errorText.components(separatedBy: "pinna: \(sentence)\n").count == 2)
      }
      #expect(try graph.pinna("status").output.contains("warning: \(expected[0])"))
      withExtendedLifetime(player) {}
    }

    @Test(
      "a voice straight ahead, equal at symmetrical microphones, causes no warning"
    )
    func symmetry() throws {
      let graph = try LiveGraph(preset: "phone5")
      let names = try graph.microphones()
      let channels = names.indices.map { Self.noise[$0 == 1 ? 0 : $0] }
      let player = try SignalPlayer(
        name: "player", server: graph.server.name, channels: channels, repeats: true)
      #expect(player.connect(to: names.map { "pinna:\($0)" }))
      player.start()
      sleep(12)
      #expect(try warnings(graph) == [])
      #expect(!graph.program.errorText.contains("same signal"))
      withExtendedLifetime(player) {}
    }

    @Test("a missing monitor port is reported once and listed in status")
    func mistypedMonitor() throws {
      let graph = try LiveGraph(
        preset: "phone5", options: ["--monitor", "system:playback_1,system:playbck_2"], captures: 5,
        playbacks: 2)
      let sentence = "there is no port system:playbck_2 for the outputs"
      #expect(try waitUntil(seconds: 6) { try warnings(graph).contains { $0.hasPrefix(sentence) } })
      #expect(try !warnings(graph).contains { $0.contains("playback_1") })
      sleep(1)
      #expect(graph.program.errorText.components(separatedBy: sentence).count == 2)
      try #require(try graph.pinna("set", "--output", "none").status == 0)
      #expect(try waitUntil(seconds: 2) { try !warnings(graph).contains { $0.hasPrefix(sentence) } })
    }

    @Test("the device's microphones return from a line input with their last selection")
    func fromALineInput() throws {
      let graph = try LiveGraph(preset: "phone5", captures: 2)
      for way in [["preset", "use", "phone5"], ["set", "--data-source", "Front", "--pattern", "cardioid"]] {
        let before = try graph.home.pinna(way)
        try #require(before.status == 0, "\(before)")
        let line = try graph.pinna("set", "--input", "system:capture_1")
        try #require(line.status == 0, "\(line)")
        #expect(try graph.pinna("set", "--input", "phone5").output == before.output)
      }
    }

    @Test("the names and the order of ports tell microphones and outputs apart")
    func portNames() throws {
      let graph = try LiveGraph(preset: "phone5")
      let listing = try Program.run("/usr/bin/jack_lsp", ["pinna:"], environment: graph.jackEnvironment)
      let ports = ["out_left", "out_right", "control"] + (try graph.microphones())
      #expect(listing.output.split(separator: "\n").map(String.init) == ports.map { "pinna:\($0)" })
    }
  }
}
