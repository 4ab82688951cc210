import AudioFiles
import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  /// R36: a graph that stalls for everybody, or for Pinna's client alone.
  @Suite(
    "A PipeWire graph that stalls",
    .enabled(if: LiveGraph.isPipeWire, "libjack is JACK2's: run the tests with pw-jack for PipeWire"))
  struct PipeWireStallTests {
    func awaitServer(_ graph: LiveGraph, _ state: String, seconds: Double) throws -> Bool {
      try waitUntil(seconds: seconds) { try graph.status()["server"] as? String == state }
    }

    @Test("R36: a client that PipeWire pauses joins again: setting and connections are back, a take says why")
    func paused() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let pipeWire = try #require(graph.pipeWire)
      let player = try graph.player(PipeWireTests.tone(rate: 48000), repeats: true)
      player.start()
      let others = try SignalRecorder(
        name: "others", server: graph.server.name, channels: 2, capacityFrames: 480)
      try #require(others.connect(from: ["pinna:out_left", "pinna:out_right"]))
      try #require(try graph.pinna("set", "--pattern", "cardioid", "--gain", "-6").status == 0)
      try graph.waitForLook()
      func connections() throws -> [String: [String]] {
        try graph.ports("-c").filter { $0.key.hasPrefix("pinna:") && $0.key != "pinna:control" }
      }
      let before = try connections()
      try #require(before.count == 7 && before.values.allSatisfy { $0.count == 1 }, "\(before)")
      let path = try graph.startTake(frames: 24_000)
      try pipeWire.command("Pause", toNode: "pinna")
      let start = ContinuousClock.now
      try #require(try awaitServer(graph, "stalled", seconds: 10))
      try #require(try awaitServer(graph, "running", seconds: 20), "\(graph.program.errorText)")
      let took = ContinuousClock.now - start
      // A second until the stall is noticed, three until a new client is tried, which stays for half a second.
      #expect(took < Faults.patience(.milliseconds(5500)), "\(took)")
      Faults.report(
        "R36", done: "PipeWire pauses Pinna's client: joined again", took: took, limit: .milliseconds(5500))
      let isWired = try waitUntil(seconds: 5) { try connections() == before }
      #expect(isWired, "it was \(before); \(graph.program.errorText)")
      let status = try graph.status()
      #expect(status["polarPattern"] as? String == "cardioid" && status["gainDB"] as? Double == -6)
      let stop = try graph.pinna("record", "stop")
      #expect([3, 7].contains(stop.status) && stop.error.contains("does for new clients"), "\(stop)")
      #expect(try TakeFiles.sidecar(path).events.contains { $0.what.contains("does for new clients") })
      #expect(try TakeFiles.complaints(path) == [])
      #expect(try AudioClip(path: path).frames >= 24_000)
      let second = try graph.startTake(frames: 24_000)
      #expect(try [0, 7].contains(graph.pinna("record", "stop").status))
      #expect(try TakeFiles.complaints(second) == [])
    }

    @Test("R36: a daemon that stands still for ten seconds is waited for, and the take goes on")
    func daemon() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let path = try graph.startTake(frames: 24_000)
      kill(graph.server.pid, SIGSTOP)
      let stopped = ContinuousClock.now
      // A helper process tries to get periods for the first time, and ends by itself.
      try #require(waitUntil(seconds: 20, every: 100) { !Self.probes(graph).isEmpty })
      _ = waitUntil(seconds: 20, every: 100) { .now - stopped >= .seconds(10) && Self.probes(graph).isEmpty }
      let state = try graph.status()["server"] as? String
      let probes = Self.probes(graph)
      kill(graph.server.pid, SIGCONT)
      #expect(state == "stalled" && probes.isEmpty, "\(state ?? ""), \(probes)")
      try #require(try awaitServer(graph, "running", seconds: 5))
      try graph.waitForTake(frames: graph.takeFrames() + 24_000)
      #expect(try graph.status()["state"] as? String == "recording")
      #expect(try [0, 7].contains(graph.pinna("record", "stop").status))
      #expect(try TakeFiles.complaints(path) == [])
      #expect(!graph.program.errorText.contains("joins the graph again"), "\(graph.program.errorText)")
    }

    @Test("R36: a client that PipeWire has suspended has periods again as soon as another joins, and stays")
    func suspended() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let pipeWire = try #require(graph.pipeWire)
      let path = try graph.startTake(frames: 24_000)
      try pipeWire.command("Suspend", toNode: "pinna")
      try #require(try awaitServer(graph, "stalled", seconds: 10))
      try #require(try awaitServer(graph, "running", seconds: 20), "\(graph.program.errorText)")
      try graph.waitForTake(frames: graph.takeFrames() + 24_000)
      #expect(try [0, 7].contains(graph.pinna("record", "stop").status))
      #expect(try TakeFiles.complaints(path) == [])
      #expect(!graph.program.errorText.contains("joins the graph again"), "\(graph.program.errorText)")
    }

    /// The processes that try to get periods from this graph's daemon.
    static func probes(_ graph: LiveGraph) -> [String] {
      let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return processes.filter { pid in
        let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)
        return line?.split(separator: "\0").dropFirst() == ["--probe-server", Substring(graph.server.name)]
      }
    }
  }
}
