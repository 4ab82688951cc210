import AudioFiles
import Foundation
import JackClient
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite(
    "A PipeWire daemon that changes its rate, restarts and stalls",
    .enabled(if: LiveGraph.isPipeWire, "libjack is JACK2's: run the tests with pw-jack for PipeWire"))
  struct PipeWireTests {
    static let needsPorts: ConditionTrait = .disabled(
      if: JackLibrary.version.contains("PipeWire 1.4"),
      "PipeWire 1.4 leaves the ports of a null node to a session manager, which the private daemon lacks")

    /// Two minutes of 440 Hz at −12 dBFS.
    static func tone(rate: Int) -> [[Float]] {
      let tone = Sine.samples(frequency: 440, rate: rate, count: rate * 2, amplitude: 0.2512)
      return [[Float]](repeating: tone, count: 5)
    }

    /// The frequency of a sine, from its rising zeros.
    static func frequency(_ signal: ArraySlice<Float>, rate: Int) -> Double {
      var zeros: [Double] = []
      for n in signal.indices.dropFirst() where signal[n - 1] < 0 && signal[n] >= 0 {
        zeros.append(Double(n) - Double(signal[n] / (signal[n] - signal[n - 1])))
      }
      guard let first = zeros.first, let last = zeros.last, last > first else { return 0 }
      return Double(zeros.count - 1) / (last - first) * Double(rate)
    }

    func player(_ graph: LiveGraph, rate: Int) throws -> SignalPlayer {
      let player = try graph.player(Self.tone(rate: rate), repeats: true)
      player.start()
      _ = waitUntil(seconds: 3) { (try? outputLevel(graph)) ?? -150 > -40 }
      return player
    }

    func outputLevel(_ graph: LiveGraph) throws -> Double {
      let levels = try graph.status()["levels"] as? [String: Any]
      return ((levels?["outputs"] as? [[String: Any]])?.first?["rmsDB"] as? Double) ?? -150
    }

    /// Whether a take has one rate, has that pitch wherever it has no gap, and its sidecar counts its frames.
    func expectWhole(_ path: String, rate: Int) throws {
      let (take, sidecar) = (try AudioClip(path: path), try TakeFiles.sidecar(path))
      #expect(
        take.sampleRate == rate && take.frames > rate / 2, "\(take.sampleRate) Hz, \(take.frames) frames")
      // On a busy machine Pinna misses periods of an asynchronous server. Filters swing in for 21 ms after such a gap.
      let gaps = sidecar.gaps.flatMap { [$0.frame - rate / 20, $0.frame + $0.frames + rate / 20] }
      let edges = [0] + gaps + [take.frames]
      let inner = rate / 5..<max(rate / 5, take.frames - rate / 5)
      let spans = stride(from: 0, to: edges.count, by: 2).map {
        (edges[$0]..<max(edges[$0], edges[$0 + 1])).clamped(to: inner)
      }
      // Of 0.05 s, a tone whose zeros are off by 0.1 samples at most is known to 0.04 Hz.
      let errors = spans.filter { $0.count > rate / 20 }.map {
        Self.frequency(take.channels[0][$0], rate: rate) - 440
      }
      let error = try #require(errors.max { abs($0) < abs($1) }, "\(sidecar.gaps)")
      #expect(abs(error) < 0.1, "\(errors) Hz in \(spans)")
      #expect(sidecar.frames == take.frames)
      #expect(try TakeFiles.complaints(path) == [])
      Faults.report(
        "R34", done: "PipeWire to 96 kHz: 440 Hz in a take at \(rate) Hz reads",
        measured: String(format: "%.3f Hz", 440 + error), limit: "440 ± 0.1 Hz", kept: abs(error) < 0.1)
    }

    @Test("R34: the rate changes during a take: the take ends, whole, and the next one has the new rate")
    func rate() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let pipeWire = try #require(graph.pipeWire)
      #expect(try graph.home.pinna("design", "phone5", "--sample-rate", "96000").status == 0)
      var player: SignalPlayer? = try player(graph, rate: 48000)
      let path = try graph.startTake(frames: 96_000)
      let start = ContinuousClock.now
      try pipeWire.set("clock.force-rate", 96000)
      try #require(
        try waitUntil(seconds: 10) {
          let status = try graph.status()
          return status["sampleRate"] as? Int == 96000 && status["server"] as? String == "running"
        }, "\(graph.program.errorText)")
      let took = ContinuousClock.now - start
      #expect(took < Faults.patience(.seconds(1)), "\(took)")
      Faults.report("R34", done: "PipeWire to 96 kHz: filters in force", took: took, limit: .seconds(1))
      let stop = try graph.pinna("record", "stop")
      #expect(
        [3, 7].contains(stop.status) && stop.error.contains("the sample rate changed from 48000 to 96000 Hz"),
        "\(stop)")
      let sidecar = try TakeFiles.sidecar(path)
      #expect(
        sidecar.events.contains { $0.what.contains("the sample rate changed from 48000 to 96000 Hz") },
        "\(sidecar.events)")
      try expectWhole(path, rate: 48000)
      player = nil
      player = try self.player(graph, rate: 96000)
      let second = try graph.startTake(frames: 192_000)
      #expect(try [0, 7].contains(graph.pinna("record", "stop").status))
      try expectWhole(second, rate: 96000)
      withExtendedLifetime(player) {}
    }

    @Test("R35: the daemon is killed during a take and restarted: ports, settings and connections are back")
    func restart() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      var player: SignalPlayer? = try player(graph, rate: 48000)
      try #require(try graph.home.pinna("set", "--pattern", "cardioid", "--gain", "-6").status == 0)
      try graph.waitForLook()
      let connections = try graph.ports("-c").filter { $0.key.hasPrefix("pinna:") }
      let path = try graph.startTake(frames: 48_000)
      let frames = try graph.takeFrames()
      graph.killServer()
      try #require(waitUntil(seconds: 5) { FileManager.default.fileExists(atPath: path) })
      try #require(
        waitUntil(seconds: 5) {
          FileManager.default.fileExists(atPath: path.replacing(".wav", with: ".json"))
        })
      #expect(try AudioClip(path: path).frames >= frames)
      player = nil
      let up = try graph.restartServer(period: 256)
      try #require(waitUntil(seconds: 10) { graph.hasPort("pinna:out_right") && graph.hasPort("pinna:top") })
      let back = ContinuousClock.now - up
      #expect(back < Faults.patience(.seconds(1)), "\(back)")
      Faults.report("R35", done: "PipeWire restarted: our ports", took: back, limit: .seconds(1))
      try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
      let status = try graph.status()
      #expect(status["polarPattern"] as? String == "cardioid" && status["gainDB"] as? Double == -6)
      player = try SignalPlayer(
        name: "player", server: graph.server.name, channels: Self.tone(rate: 48000), repeats: true)
      let there = ContinuousClock.now
      try #require(
        try waitUntil(seconds: 10) {
          try graph.ports("-c").filter { $0.key.hasPrefix("pinna:") } == connections
        }, "\(graph.program.errorText)")
      let wired = ContinuousClock.now - there
      #expect(wired < Faults.patience(.seconds(1)), "\(wired)")
      Faults.report(
        "R35", done: "PipeWire restarted, the other end back: our connections", took: wired,
        limit: .seconds(1))
      player?.start()
      let second = try graph.startTake(frames: 48_000)
      #expect(try [0, 7].contains(graph.pinna("record", "stop").status))
      #expect(try TakeFiles.complaints(second) == [])
    }

    /// Other programs at every kind of Pinna's ports, two feeds among them.
    final class Others {
      let player: SignalPlayer
      private let recorder: SignalRecorder
      private let keys: MIDISender
      static let own = ["out_left", "out_right", "anna", "hall_left", "hall_right"]

      init(_ graph: LiveGraph) throws {
        let name = graph.server.name
        player = try SignalPlayer(
          name: "player", server: name, channels: PipeWireTests.tone(rate: 48000), repeats: true)
        recorder = try SignalRecorder(
          name: "others", server: name, channels: Self.own.count, capacityFrames: 480)
        keys = try MIDISender(server: name)
        player.start()
      }

      func connect(_ graph: LiveGraph) throws {
        try #require(player.connect(to: try graph.microphones().map { "pinna:\($0)" }))
        try #require(recorder.connect(from: Self.own.map { "pinna:\($0)" }))
      }
    }

    /// Pinna with two feeds, connected at every kind of port.
    func connectedGraph() throws -> (graph: LiveGraph, others: Others, connections: [String: [String]]) {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      try #require(try graph.pinna("feed", "add", "anna", "--pattern", "cardioid").status == 0)
      try #require(try graph.pinna("feed", "add", "hall", "--format", "stereo").status == 0)
      let others = try Others(graph)
      try others.connect(graph)
      try graph.waitForLook()
      let before = try connections(graph)
      try #require(before.count == 11 && before.values.allSatisfy { $0.count == 1 }, "\(before)")
      return (graph, others, before)
    }

    func connections(_ graph: LiveGraph) throws -> [String: [String]] {
      try graph.ports("-c").filter { $0.key.hasPrefix("pinna:") }
    }

    /// Whether a take that was cut off has been finalised, and says why it ended.
    func isFinalised(_ path: String, because cause: String) throws -> Bool {
      let isWritten = waitUntil(seconds: 5) {
        [path, path.replacing(".wav", with: ".json")].allSatisfy {
          FileManager.default.fileExists(atPath: $0)
        }
      }
      guard isWritten else { return false }
      let sidecar = try TakeFiles.sidecar(path)
      #expect(sidecar.events.contains { $0.what.contains(cause) }, "\(sidecar.events)")
      return try TakeFiles.complaints(path) == [] && AudioClip(path: path).frames == sidecar.frames
    }

    /// `make faults` restarts the daemon 20 times.
    @Test(
      "R35, R60: after restarts at random moments, also in takes, ports, setting and connections are back")
    func restarts() throws {
      let count = Int(Faults.number("PINNA_RESTARTS", quick: 3, heavy: 20))
      var (graph, others, before): (LiveGraph, Others?, [String: [String]]) = try connectedGraph()
      var noise = SeededNoise(seed: 35)
      var (ports, wires) = (Duration.zero, Duration.zero)
      var (takes, whole, settings) = (0, 0, 0)
      for round in 1...count {
        let pattern = round % 2 == 0 ? "cardioid" : "stereo"
        try #require(try graph.pinna("set", "--pattern", pattern, "--gain", "\(-round)").status == 0)
        let path = round % 2 == 0 ? nil : try graph.startTake()
        try others!.player.wait(frames: Int(noise.next() % 48_000))
        graph.killServer()
        if let path {
          takes += 1
          let isWhole = try isFinalised(path, because: "the JACK server has gone")
          #expect(isWhole, "round \(round)")
          if isWhole { whole += 1 }
        }
        others = nil
        let up = try graph.restartServer(period: 256)
        try #require(
          waitUntil(seconds: 10) { graph.hasPort("pinna:out_right") && graph.hasPort("pinna:top") },
          "round \(round): \(graph.program.errorText)")
        ports = max(ports, ContinuousClock.now - up)
        others = try Others(graph)
        let othersUp = ContinuousClock.now
        var found: [String: [String]] = [:]
        let areBack = try waitUntil(seconds: 10) {
          found = try connections(graph)
          return found == before
        }
        try #require(areBack, "round \(round): \(found), not \(before)")
        wires = max(wires, ContinuousClock.now - othersUp)
        try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
        let status = try graph.status()
        let (isPattern, gain) = (status["polarPattern"] as? String == pattern, status["gainDB"] as? Double)
        let isSame = isPattern && gain == Double(-round) && status["abandonedClients"] == nil
        #expect(isSame, "round \(round): \(status)")
        if isSame { settings += 1 }
      }
      let patience = Faults.patience(.seconds(1))
      #expect(ports < patience && wires < patience, "\(ports), \(wires)")
      let done = "PipeWire restarted \(count) times at random moments, \(takes) times in takes"
      Faults.report("R35", done: "\(done): our ports, slowest", took: ports, limit: .seconds(1))
      Faults.report(
        "R35", done: "the other ends back: our connections, slowest of \(count)", took: wires,
        limit: .seconds(1))
      Faults.report(
        "R35", done: "settings back, takes whole", measured: "\(settings), \(whole)",
        limit: "\(count), \(takes)", kept: settings == count && whole == takes)
      withExtendedLifetime(others) {}
    }

    @Test(
      "R35, R60: a node that another program destroys is there again, with setting and connections; takes are whole"
    )
    func destroyed() throws {
      let count = Int(Faults.number("PINNA_RESTARTS", quick: 2, heavy: 10))
      let (graph, others, before) = try connectedGraph()
      let pipeWire = try #require(graph.pipeWire)
      try #require(try graph.pinna("set", "--pattern", "cardioid", "--gain", "-6").status == 0)
      var (wires, whole) = (Duration.zero, 0)
      for round in 1...count {
        let path = try graph.startTake(frames: 12_000)
        try pipeWire.destroy(node: "pinna")
        let gone = ContinuousClock.now
        var found: [String: [String]] = [:]
        let areBack = try waitUntil(seconds: 10) {
          found = try connections(graph)
          return found == before
        }
        try #require(areBack, "round \(round): \(found); \(graph.program.errorText)")
        wires = max(wires, ContinuousClock.now - gone)
        let isWhole = try isFinalised(path, because: "another program has removed Pinna from the graph")
        #expect(isWhole, "round \(round)")
        if isWhole { whole += 1 }
        try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
        let status = try graph.status()
        #expect(status["polarPattern"] as? String == "cardioid" && status["gainDB"] as? Double == -6)
        #expect(status["abandonedClients"] as? Int == round)
      }
      #expect(wires < Faults.patience(.seconds(1)), "\(wires)")
      Faults.report(
        "R35", done: "node destroyed \(count) times in takes of three feeds: connections, slowest",
        took: wires,
        limit: .seconds(1))
      Faults.report(
        "R35", done: "takes whole", measured: "\(whole)", limit: "\(count)", kept: whole == count)
      try #require(try graph.pinna("stop").status == 0)
      // On a busy machine Pinna misses periods of an asynchronous server.
      let status = graph.program.wait(seconds: 10)?.status
      #expect(status == 0 || status == 7, "\(graph.program.errorText)")
      withExtendedLifetime(others) {}
    }

    /// Where libjack is closed while its daemon ends, as both do when a user logs out.
    @Test("Pinna that leaves while the daemon ends ends well")
    func logout() throws {
      for delay in stride(from: 0, through: Int(Faults.number("PINNA_LOGOUTS", quick: 4, heavy: 40)), by: 2) {
        let (graph, others, _) = try connectedGraph()
        kill(graph.program.pid, SIGTERM)
        try others.player.wait(frames: delay * 48)
        kill(graph.server.pid, SIGTERM)
        let outcome = graph.program.wait(seconds: 10)
        #expect(outcome.map { $0.status >= 0 } ?? false, "\(delay) ms: \(outcome as Any)")
        withExtendedLifetime(others) {}
      }
    }

    /// A null node stands for a USB array.
    @Test(
      "R12: an array that is unplugged and plugged in again is connected again, live and in a take, which says so",
      needsPorts, arguments: [false, true])
    func unplugged(inTake: Bool) throws {
      let graph = try LiveGraph(preset: "phone5", period: 256, options: ["--connect-from", "Array"])
      let pipeWire = try #require(graph.pipeWire)
      func plug() throws {
        try pipeWire.addNode(
          "Array", mediaClass: "Audio/Source/Virtual", positions: "AUX0,AUX1,AUX2,AUX3,AUX4")
      }
      func sources() throws -> [[String]] {
        let ports = try graph.ports("-c")
        return ["bottom-left", "bottom-right", "front", "back", "top"].map { ports["pinna:" + $0] ?? [] }
      }
      let expected = (0..<5).map { ["Array:capture_AUX\($0)"] }
      try plug()
      try #require(try waitUntil(seconds: 5) { try sources() == expected }, "\(graph.program.errorText)")
      let path = inTake ? try graph.startTake() : nil
      for _ in 0..<2 {
        if inTake { try graph.waitForTake(frames: graph.takeFrames() + 24_000) }
        try pipeWire.removeNode("Array")
        try #require(try waitUntil(seconds: 5) { try sources() == [[], [], [], [], []] })
        let isTold = try waitUntil(seconds: 5) {
          (try graph.status()["warnings"] as? [String] ?? []).contains { $0.contains("Array:capture_AUX4") }
        }
        #expect(isTold, "\(graph.program.errorText)")
        if inTake { try graph.waitForTake(frames: graph.takeFrames() + 24_000) }
        try plug()
        let back = ContinuousClock.now
        try #require(try waitUntil(seconds: 5) { try sources() == expected }, "\(graph.program.errorText)")
        let took = ContinuousClock.now - back
        #expect(took < Faults.patience(.milliseconds(500)), "\(took)")
        Faults.report(
          "R12", done: "an array on PipeWire plugged in again \(inTake ? "in a take" : "live"): connected",
          took: took, limit: .milliseconds(500))
      }
      guard let path else { return }
      #expect(try [0, 7].contains(graph.pinna("record", "stop").status))
      let events = try TakeFiles.sidecar(path).events.map(\.what)
      for name in ["bottom-left", "top"] {
        #expect(events.count { $0.hasPrefix("\(name) has lost Array:capture") } == 2, "\(events)")
        #expect(events.count { $0.hasPrefix("\(name) is connected to Array:capture") } == 2, "\(events)")
      }
    }

    @Test(
      "--virtual-microphone offers the outputs as a source, which goes with Pinna, however that ends",
      needsPorts)
    func virtualMicrophone() throws {
      let graph = try LiveGraph(
        preset: "phone5", period: 256, options: ["--virtual-microphone", "Pinna Stereo"],
        environment: [:])
      let pipeWire = try #require(graph.pipeWire)
      func isConnected() throws -> Bool {
        try graph.ports("-c")["pinna:out_left"] == ["Pinna Stereo:input_FL"]
          && graph.ports("-c")["pinna:out_right"] == ["Pinna Stereo:input_FR"]
      }
      func sources() throws -> String { try pipeWire.run("pw-cli", "ls", "Node").output }
      try #require(try waitUntil(seconds: 5) { try isConnected() }, "\(graph.program.errorText)")
      #expect(try sources().contains("Pinna Stereo"))
      graph.killServer()
      try graph.restartServer(period: 256)
      try #require(try waitUntil(seconds: 5) { try isConnected() }, "\(graph.program.errorText)")
      kill(graph.program.pid, SIGKILL)
      #expect(try waitUntil(seconds: 3) { try !sources().contains("Pinna Stereo") })
    }

    @Test(
      "Pinna's node has an icon, an application and a medium, and its ports keep their names; what the user says stands"
    )
    func nodeProperties() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      func properties() throws -> [String: Any] {
        let text = try #require(graph.pipeWire).run("pw-dump").output
        let objects = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
        let nodes = objects.compactMap { ($0["info"] as? [String: Any])?["props"] as? [String: Any] }
        return try #require(nodes.first { $0["node.name"] as? String == "pinna" })
      }
      let id = "org.pinna_audio.pinna"
      let found = try properties()
      for (key, value) in [
        ("application.id", id), ("application.icon-name", id), ("media.icon-name", id),
        ("media.name", "microphone array"), ("node.description", "pinna"),
      ] {
        #expect(found[key] as? String == value, "\(key): \(found)")
      }
      #expect(try graph.ports("-p").keys.contains("pinna:out_left"))
      try #require(try graph.pinna("stop").status == 0)
      try #require(graph.program.wait(seconds: 10) != nil)
      let own = try graph.home.start(
        ["--server", graph.server.name], ["PIPEWIRE_PROPS": "{ media.name = \"mine\" }"])
      try #require(
        try waitUntil(seconds: 30) { try graph.pinna("set", "--gain", "0").status == 0 }, "\(own.errorText)")
      let kept = try properties()
      #expect(kept["media.name"] as? String == "mine" && kept["application.id"] as? String != id)
      #expect(try graph.pinna("stop").status == 0)
    }

    @Test("R36: a daemon that stands still is reported as stalled, and the take goes on when it does")
    func stall() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let path = try graph.startTake(frames: 24_000)
      let pid = graph.server.pid
      kill(pid, SIGSTOP)
      let start = ContinuousClock.now
      let isStalled = try waitUntil(seconds: 10) { try graph.status()["server"] as? String == "stalled" }
      let took = ContinuousClock.now - start
      kill(pid, SIGCONT)
      #expect(isStalled && took < Faults.patience(.milliseconds(1500)), "\(took)")
      Faults.report(
        "R36", done: "PipeWire stopped: stalled in status", took: took, limit: .milliseconds(1500))
      try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
      try graph.waitForTake(frames: graph.takeFrames() + 24_000)
      let stop = try graph.pinna("record", "stop")
      #expect([0, 7].contains(stop.status), "\(stop)")
      let events = try TakeFiles.sidecar(path).events.map(\.what)
      #expect(
        events.contains { $0.contains("no periods reached Pinna") }
          && events.contains { $0.contains("periods reach Pinna again") })
    }
  }
}
