import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// R37: in JACK2's graph and in PipeWire's.
  @Suite("Other people's programs that quit and start again") struct OthersTests {
    /// A program that records Pinna's outputs, connected by its user.
    func recorder(_ graph: LiveGraph, isConnected: Bool) throws -> SignalRecorder {
      let recorder = try SignalRecorder(
        name: "others", server: graph.server.name, channels: 2, capacityFrames: 480)
      if isConnected {
        try #require(recorder.connect(from: ["pinna:out_left", "pinna:out_right"]))
        try graph.waitForLook()
      }
      return recorder
    }

    func peers(_ graph: LiveGraph) throws -> [String] { try graph.ports("-c")["others:in_1"] ?? [] }

    /// Whether Pinna is connected to the recorder within a second.
    func isConnected(_ graph: LiveGraph) throws -> Bool {
      try waitUntil(seconds: 1) { try peers(graph) == ["pinna:out_left"] }
    }

    @Test("R37: a recorder that quits and starts again is not connected to Pinna's outputs, unless asked for")
    func quits() throws {
      for options in [[], ["--keep-connections"]] {
        let graph = try LiveGraph(preset: "phone5", options: options)
        var other: SignalRecorder? = try recorder(graph, isConnected: true)
        other = nil
        try #require(graph.says("has lost others:in_1"))
        other = try recorder(graph, isConnected: false)
        let isConnected = try isConnected(graph)
        #expect(isConnected == !options.isEmpty, "\(options): \(graph.program.errorText)")
        if options.isEmpty {
          Faults.report(
            "R37",
            done: "a recorder quits and starts again\(LiveGraph.isPipeWire ? ", PipeWire" : ""): its inputs",
            measured: isConnected ? "connected to Pinna" : "not connected", limit: "not connected",
            kept: !isConnected)
        }
        withExtendedLifetime(other) {}
      }
    }

    @Test("R37: after Pinna's own restart its outputs are connected to the recorder again, unless forgotten")
    func ownRestart() throws {
      let graph = try LiveGraph(preset: "phone5")
      let other = try recorder(graph, isConnected: true)
      func restart() throws {
        #expect(try graph.pinna("stop").status == 0)
        try #require(graph.program.wait(seconds: 10) != nil)
        try graph.restart()
      }
      let file = graph.home.folder.path + "/state/pinna/pinna.json"
      func isKept() -> Bool {
        (try? String(contentsOfFile: file, encoding: .utf8).contains("others:in_1")) ?? false
      }
      try #require(waitUntil(seconds: 2) { isKept() })
      try restart()
      #expect(try isConnected(graph))
      #expect(try graph.pinna("stop").status == 0)
      try #require(graph.program.wait(seconds: 10) != nil)
      let forgotten = try graph.pinna("forget")
      #expect(forgotten.status == 0 && forgotten.output == "2 connections forgotten\n", "\(forgotten)")
      try graph.restart()
      #expect(try !isConnected(graph))
      withExtendedLifetime(other) {}
    }

    @Test(
      "a source that --connect-from chooses stands alone: that of the last run is not connected beside it")
    func newSource() throws {
      let graph = try LiveGraph(preset: "phone5")
      let other = try recorder(graph, isConnected: true)
      let sources = try ["older", "newer"].map {
        try SignalPlayer(
          name: $0, server: graph.server.name, channels: [[Float]](repeating: [0], count: 5), repeats: true)
      }
      #expect(sources[0].graph.connect("older:out_1", "pinna:top"))
      let file = graph.home.folder.path + "/state/pinna/pinna.json"
      try #require(
        waitUntil(seconds: 2) {
          (try? String(contentsOfFile: file, encoding: .utf8).contains("older:out_1")) ?? false
        })
      #expect(try graph.pinna("stop").status == 0)
      try #require(graph.program.wait(seconds: 10) != nil)
      try graph.restart(["--connect-from", "newer"])
      try graph.waitForLook()
      #expect(try isConnected(graph))
      let made = try graph.ports("-c").filter {
        $0.key.hasPrefix("pinna:") && $0.value.first?.contains("er:out_") == true
      }
      #expect(
        made.count == 5 && made.values.allSatisfy { $0.count == 1 && $0[0].hasPrefix("newer:") }, "\(made)")
      withExtendedLifetime((other, sources)) {}
    }

    @Test("run --resume begins with the setting of the last run; a damaged file is said, and ignored")
    func resume() throws {
      let graph = try LiveGraph(preset: "phone5", options: ["--resume"])
      #expect(
        try graph.pinna("set", "--pattern", "cardioid", "--gain", "-7", "--high-pass", "90").status == 0)
      let file = graph.home.folder.path + "/state/pinna/pinna.json"
      try #require(
        waitUntil(seconds: 2) {
          (try? String(contentsOfFile: file, encoding: .utf8).contains("cardioid")) ?? false
        })
      for expected in ["cardioid", "stereo"] {
        #expect(try graph.pinna("stop").status == 0)
        try #require(graph.program.wait(seconds: 10) != nil)
        if expected == "stereo" { try "{".write(toFile: file, atomically: true, encoding: .utf8) }
        // `restart` sets the gain to 0.
        try graph.restart()
        let status = try graph.status()
        #expect(status["polarPattern"] as? String == expected)
        #expect(status["highPassHz"] as? Double == (expected == "cardioid" ? 90 : nil))
      }
      #expect(graph.says("cannot be used; remove it"))
    }
  }
}
