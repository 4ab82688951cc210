import AudioFiles
import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("Pinna in a JACK graph") struct GraphTests {
    static let loop: [[Float]] = {
      var noise = SeededNoise(seed: 22)
      return (0..<5).map { _ in noise.samples(48_000, amplitude: 0.25) }
    }()

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

    @Test(
      "a preset of another device replaces the microphone ports; ports of the same name stay connected")
    func otherDevice() throws {
      let home = try PinnaHome()
      try home.add(PinnaHome.duo, named: "duo")
      let graph = try LiveGraph(preset: "phone5", home: home)
      let phone = ["back", "bottom-left", "bottom-right", "front", "top"]
      #expect(try graph.microphones().sorted() == phone)
      let player = try graph.player(Self.loop, repeats: true)
      let recorder = try graph.recorder(seconds: 1)
      player.start()

      func inputs() throws -> [String] {
        try graph.ports("-c").keys.filter {
          $0.hasPrefix("pinna:") && !$0.hasPrefix("pinna:out_") && $0 != "pinna:control"
        }
        .map { String($0.dropFirst(6)) }.sorted()
      }
      func expectOutputsConnected() throws {
        let ports = try graph.ports("-c")
        #expect(ports["pinna:out_left"] == ["recorder:in_1"])
        #expect(ports["pinna:out_right"] == ["recorder:in_2"])
      }
      let ring = ["centre"] + (1...6).map { "ring-\($0)" }
      for (preset, microphones) in [
        ("ring7", ring), ("phone5", phone), ("duo", ["front", "spare"]), ("phone5", phone),
      ] {
        let before = try inputs()
        // Connects every port, so that any lost connection shows.
        _ = player.connect(to: before.map { "pinna:\($0)" })
        let connections = try graph.ports("-c")
        let outcome = try graph.pinna("preset", "use", preset, "--json")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try outcome.json()["preset"] as? String == preset)
        #expect(try graph.status()["preset"] as? String == preset)
        #expect(try inputs() == microphones)
        try expectOutputsConnected()
        let after = try graph.ports("-c")
        for kept in Set(before).intersection(microphones) {
          let port = "pinna:" + kept
          #expect(connections[port]?.isEmpty == false && after[port] == connections[port], "\(port)")
        }
      }
      withExtendedLifetime((player, recorder)) {}
    }

    /// The processor time that a program has used, in seconds.
    static func processorTime(_ pid: Int32) throws -> Double {
      let fields = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).split(separator: ")")
        .last!
        .split(separator: " ")
      return (Double(fields[11])! + Double(fields[12])!) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    @Test(
      "R45: after hundreds of clients with one-time names, CPU load and memory are stable and status answers")
    func oneTimeNames() throws {
      let graph = try LiveGraph(preset: "phone5", period: 1024)
      let names = try graph.microphones()
      let clients = Int(Faults.number("PINNA_FAULT_CLIENTS", quick: 50, heavy: 600))
      /// CPU load in per cent of a core, over three idle seconds, after those in which Pinna follows the last client's end.
      func load() throws -> Double {
        sleep(3)
        let before = try Self.processorTime(graph.program.pid)
        sleep(3)
        return try (Self.processorTime(graph.program.pid) - before) / 3 * 100
      }
      func visit(_ range: Range<Int>) throws {
        for n in range {
          let client = try SignalPlayer(name: "once-\(n)", server: graph.server.name, channels: [[0]])
          #expect(client.connect(to: ["pinna:\(names[n % names.count])"]))
          // Waits until Pinna has seen the connection.
          try graph.waitForLook()
          withExtendedLifetime(client) {}
        }
      }
      try visit(0..<20)
      let (loadBefore, memoryBefore) = (try load(), try graph.program.residentMemory())
      try visit(20..<20 + clients)
      let (loadAfter, memoryAfter) = (try load(), try graph.program.residentMemory())
      let answer = try graph.pinna("status", "--json")
      #expect(answer.status == 0, "\(answer)")
      #expect(loadAfter <= loadBefore + 2, "\(loadBefore) to \(loadAfter) %")
      #expect(memoryAfter - memoryBefore <= 2048, "\(memoryBefore) to \(memoryAfter) kB")
      Faults.report(
        "R45", done: "\(clients) clients with one-time names: processor time and memory of an idle Pinna",
        measured: String(
          format: "%.1f → %.1f %%, %d kB more", loadBefore, loadAfter, memoryAfter - memoryBefore),
        limit: "+2 %, +2048 kB", kept: loadAfter <= loadBefore + 2 && memoryAfter - memoryBefore <= 2048,
        isWhole: false)
    }
  }
}
