import AudioFiles
import Foundation
import JackClient
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna check in a graph") struct CheckTests {
    /// Two microphones on a ball, and the same with their names exchanged.
    private static func home() throws -> PinnaHome {
      let home = try PinnaHome()
      for (name, side) in [("pair", -80), ("swapped", 80)] {
        try home.folder.write(
          """
          title: Two microphones on a ball
          body: {sphere: 80}
          microphones:
            left-end: [\(side), 0, 0]
            right-end: [\(-side), 0, 0]
          dataSources:
            Front:
              forward: +z
              microphones: all
              polarPatterns: [omnidirectional, stereo]
              stereoOrientations: [portrait]

          """, to: "config/pinna/devices/\(name).yaml")
        try home.folder.write(
          "title: Pair\ndevice: \(name)\ndataSource: Front\npolarPattern: omnidirectional\n"
            + "inputOrientation: portrait\n", to: "config/pinna/\(name).yaml")
      }
      return home
    }

    /// What a check may not change.
    private func state(_ graph: LiveGraph) throws -> [String: String] {
      let status = try graph.status()
      var state: [String: String] = [:]
      for key in [
        "preset", "dataSource", "polarPattern", "inputOrientation", "gainDB", "muted",
      ] { state[key] = "\(status[key] ?? "none")" }
      for (key, value) in status["preferred"] as? [String: String] ?? [:] {
        state["preferred " + key] = value
      }
      for (port, peers) in try graph.ports("-c") where port.hasPrefix("pinna:") {
        state[port] = peers.sorted().joined(separator: " ")
      }
      return state
    }

    @Test("S21: live, says where the voices came out, and leaves settings and connections as they were")
    func live() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      let monitor = try SignalRecorder(
        name: "monitor", server: graph.server.name, channels: 2, capacityFrames: 48000)
      #expect(monitor.connect(from: ["pinna:out_left", "pinna:out_right"]))
      _ = try graph.pinna("set", "--gain", "-3.5", "--mute", "on")
      let before = try state(graph)
      #expect(before["gainDB"] == "-3.5" && before["muted"] == "1")
      let outcome = try graph.pinna("check", "--live", "--server", graph.server.name, "--json")
      #expect(outcome.status == 0, "\(outcome)")
      let json = try outcome.json()
      #expect(json["right"] as? Bool == true && json["live"] as? Bool == true)
      #expect((json["cases"] as? [[String: Any]])?.count == 1)
      usleep(500_000)
      let (after, warnings) = (try state(graph), "\(try graph.status()["warnings"] ?? "")")
      #expect(after == before, "\(after), before \(before)")
      #expect(!warnings.contains("check-"), "\(warnings)")
      #expect(!graph.program.errorText.contains("check-"), "\(graph.program.errorText)")
    }

    @Test("S21: live, two swapped microphones are reported with status 1")
    func swapped() throws {
      let graph = try LiveGraph(preset: "swapped", home: try Self.home())
      let outcome = try graph.pinna("check", "--live", "--array", "pair", "--server", graph.server.name)
      #expect(outcome.status == 1, "\(outcome)")
      for side in ["left", "right"] {
        #expect(outcome.output.contains("WRONG: Front, portrait: the voice from the \(side)"), "\(outcome)")
      }
    }

    @Test(
      "refuses while a microphone is connected, a take runs, something plays or a session controls the route")
    func refusals() throws {
      let graph = try LiveGraph(preset: "pair", synchronous: true, home: try Self.home())
      let source = try graph.player([[0, 0], [0, 0]])
      let before = try state(graph)
      let connected = try graph.pinna("check", "--live", "--server", graph.server.name)
      #expect(connected.status == 1 && connected.isOneSentence, "\(connected)")
      #expect(connected.error.contains("jack_disconnect player:out_1 pinna:left-end"), "\(connected)")
      let after = try state(graph)
      #expect(after == before, "\(after), before \(before)")
      withExtendedLifetime(source) {}
      try #require(try graph.pinna("record", "start").status == 0)
      let recording = try graph.pinna("check", "--live", "--server", graph.server.name)
      #expect(recording.status == 5 && recording.isOneSentence, "\(recording)")
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 0, "\(stop)")
      let sound = graph.home.folder.path + "/sound.wav"
      try AudioClip(sampleRate: 48000, channels: [[Float](repeating: 0, count: 960_000)]).write(wav: sound)
      try #require(try graph.pinna("play", sound).status == 0)
      let playing = try graph.pinna("check", "--live", "--server", graph.server.name)
      #expect(playing.status == 5 && playing.isOneSentence, "\(playing)")
      #expect(playing.error.contains("pinna play --stop"), "\(playing)")
      try #require(try graph.pinna("play", "--stop").status == 0)
      let session = try graph.activeSession()
      let settled = try state(graph)
      let controlled = try graph.pinna("check", "--live", "--server", graph.server.name)
      #expect(controlled.status == 5 && controlled.isOneSentence, "\(controlled)")
      #expect(controlled.error.contains("controls the route"), "\(controlled)")
      #expect(try state(graph) == settled)
      try session.setActive(false)
      let play = try graph.pinna("check", "--preset", "pair", "--play", "--server", graph.server.name)
      #expect(play.status == 1 && play.isOneSentence && play.error.contains("playback ports"), "\(play)")
    }

    @Test("interrupted, sets again what was set")
    func interrupted() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      let before = try state(graph)
      let check = try Program(
        try PinnaHome.binary(), ["check", "--live", "--server", graph.server.name],
        environment: graph.home.environment)
      try #require(
        try waitUntil(seconds: 30) { try graph.status()["polarPattern"] as? String == "stereo" })
      check.signal(SIGINT)
      let outcome = try #require(check.wait(seconds: 10))
      #expect(outcome.status == 1 && outcome.error.contains("interrupted"), "\(outcome)")
      usleep(500_000)
      let after = try state(graph)
      #expect(after == before, "\(after), before \(before)")
    }

    @Test("ends with status 3 where the server goes")
    func lostServer() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      let check = try Program(
        try PinnaHome.binary(), ["check", "--live", "--server", graph.server.name],
        environment: graph.home.environment)
      try #require(
        try waitUntil(seconds: 30) { try graph.status()["polarPattern"] as? String == "stereo" })
      graph.killServer()
      let outcome = try #require(check.wait(seconds: 20))
      #expect(outcome.status == 3 && outcome.error.contains("JACK server"), "\(outcome)")
    }

    @Test("--play plays what came out on the playback ports")
    func play() throws {
      let home = try Self.home()
      let name = LiveGraph.uniqueName()
      let server = try Program("/usr/bin/jackd", ["-n", name, "-r", "-d", "dummy", "-p", "256"])
      defer { server.stop() }
      func ports() throws -> String { try Program.run("/usr/bin/jack_lsp", ["-s", name, "-c"]).output }
      try #require(try waitUntil(seconds: 10) { try ports().contains("system:playback_2") })
      let check = try Program(
        try PinnaHome.binary(), ["check", "--preset", "pair", "--play", "--server", name],
        environment: home.environment)
      try #require(
        try waitUntil(seconds: 60) {
          try ports().contains("system:playback_2\n   check-\(check.pid):out_2") || !check.isRunning
        })
      #expect(check.isRunning)
      let outcome = try #require(check.wait(seconds: 20))
      #expect(outcome.status == 0 && outcome.output.contains("  Front, portrait"), "\(outcome)")
    }
  }
}
