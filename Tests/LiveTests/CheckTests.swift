import AudioFiles
import Foundation
import JackTools
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna check in a JACK graph") struct CheckTests {
    private static func home() throws -> PinnaHome {
      let home = try PinnaHome()
      try home.addPair()
      try home.addSwappedPair()
      return home
    }

    /// The settings and connections that a check must not change.
    private func state(_ graph: LiveGraph) throws -> [String: String] {
      let status = try graph.status()
      var state: [String: String] = [:]
      for key in [
        "preset", "dataSource", "polarPattern", "inputOrientation", "gainDB", "highPassHz", "muted", "roll",
        "yaw",
        "wind", "part", "frame", "roomDB", "talkersDB",
      ] { state[key] = "\(status[key] ?? "none")" }
      for (key, value) in status["preferred"] as? [String: String] ?? [:] {
        state["preferred " + key] = value
      }
      for (port, peers) in try graph.ports("-c") where port.hasPrefix("pinna:") {
        state[port] = peers.sorted().joined(separator: " ")
      }
      return state
    }

    private func expect(_ graph: LiveGraph, toBe before: [String: String]) throws {
      let isAsBefore = try waitUntil(seconds: 5) { try state(graph) == before }
      let after = try state(graph)
      #expect(isAsBefore, "\(after), before \(before)")
    }

    @Test("S21: check --live reports where the voices came out and leaves settings and connections unchanged")
    func live() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      var monitor: SignalRecorder? = try SignalRecorder(
        name: "monitor", server: graph.server.name, channels: 2, capacityFrames: 48000)
      #expect(monitor!.connect(from: ["pinna:out_left", "pinna:out_right"]))
      _ = try graph.pinna("set", "--gain", "-3.5", "--high-pass", "90", "--mute", "on")
      let before = try state(graph)
      #expect(before["gainDB"] == "-3.5" && before["highPassHz"] == "90" && before["muted"] == "1")
      let outcome = try graph.pinna("check", "--live", "--server", graph.server.name, "--json")
      #expect(outcome.status == 0, "\(outcome)")
      let json = try outcome.json()
      #expect(json["right"] as? Bool == true && json["live"] as? Bool == true)
      #expect((json["cases"] as? [[String: Any]])?.count == 1)
      try expect(graph, toBe: before)
      // Pinna warns about lost ports in order: a warning about the check's own ports would precede the
      // monitor's.
      monitor = nil
      #expect(graph.says("has lost monitor:"))
      let warnings = "\(try graph.status()["warnings"] ?? "")"
      #expect(!warnings.contains("check-"), "\(warnings)")
      #expect(!graph.program.errorText.contains("check-"), "\(graph.program.errorText)")
    }

    @Test(
      "S21: check --live also works at sample rates with few octaves", .nightly, arguments: [8000, 11_025])
    func lowRates(rate: Int) throws {
      let graph = try LiveGraph(preset: "pair", sampleRate: rate, home: try Self.home())
      let outcome = try graph.pinna("check", "--live", "--server", graph.server.name, "--json")
      #expect(outcome.status == 0, "\(outcome)")
    }

    @Test(
      "S21: check --live finds nothing wrong with an array whose pose, wind, part and levels are set, and restores them"
    )
    func unsaid() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      let set = try graph.pinna(
        "set", "--yaw", "90", "--wind", "1", "--part", "room", "--frame", "180,20", "--room", "-12",
        "--talkers",
        "-30")
      #expect(set.status == 0, "\(set)")
      let before = try state(graph)
      #expect(before["yaw"] == "90" && before["part"] == "room" && before["roomDB"] == "-12", "\(before)")
      let outcome = try graph.pinna("check", "--live", "--server", graph.server.name)
      #expect(outcome.status == 0, "\(outcome)")
      try expect(graph, toBe: before)
    }

    @Test("S21: check --live reports two swapped microphones with status 1")
    func swapped() throws {
      let graph = try LiveGraph(preset: "swapped", home: try Self.home())
      let outcome = try graph.pinna("check", "--live", "--array", "pair", "--server", graph.server.name)
      #expect(outcome.status == 1, "\(outcome)")
      for side in ["left", "right"] {
        #expect(outcome.output.contains("WRONG: Front, portrait: the voice from the \(side)"), "\(outcome)")
      }
    }

    @Test(
      "check refuses while a microphone is connected, a take runs, something plays or a session controls the route"
    )
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
      let beforeCheck = try state(graph)
      let controlled = try graph.pinna("check", "--live", "--server", graph.server.name)
      #expect(controlled.status == 5 && controlled.isOneSentence, "\(controlled)")
      #expect(controlled.error.contains("controls the route"), "\(controlled)")
      #expect(try state(graph) == beforeCheck)
      try session.setActive(false)
      let play = try graph.pinna("check", "--preset", "pair", "--play", "--server", graph.server.name)
      #expect(play.status == 1 && play.isOneSentence && play.error.contains("playback ports"), "\(play)")
    }

    /// A live check that has changed the settings and not ended.
    private func runningCheck(in graph: LiveGraph) throws -> Program {
      let check = try Program(
        try PinnaHome.binary(), ["check", "--live", "--server", graph.server.name],
        environment: graph.home.environment)
      try #require(
        try waitUntil(seconds: 30) { try graph.status()["polarPattern"] as? String == "stereo" })
      return check
    }

    @Test("an interrupted check --live restores the settings")
    func interrupted() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      let before = try state(graph)
      let check = try runningCheck(in: graph)
      check.signal(SIGINT)
      let outcome = try #require(check.wait(seconds: 10))
      #expect(outcome.status == 1 && outcome.error.contains("interrupted"), "\(outcome)")
      try expect(graph, toBe: before)
    }

    @Test("check --live ends with status 3 when the server dies")
    func lostServer() throws {
      let graph = try LiveGraph(preset: "pair", home: try Self.home())
      let check = try runningCheck(in: graph)
      graph.killServer()
      let outcome = try #require(check.wait(seconds: 20))
      #expect(outcome.status == 3 && outcome.error.contains("JACK server"), "\(outcome)")
    }

    @Test("a signal ends an offline check at once")
    func interruptedOffline() throws {
      let home = try Self.home()
      // Nothing of the body is cached.
      let environment = home.environment.merging(["XDG_CACHE_HOME": home.folder.path + "/empty"]) { $1 }
      let check = try Program(
        try PinnaHome.binary(), ["check", "--preset", "phone5"], environment: environment)
      // Long before its end: simulating sound around phone5 takes seconds.
      try #require(waitUntil(seconds: 60) { check.errorText.contains("the sound field around phone5") })
      // Not INT: a shell that started the tests in the background may have set it to be ignored.
      check.signal(SIGTERM)
      #expect(check.wait(seconds: 2)?.status == -SIGTERM)
    }

    /// A check that plays its output on the playback ports of a server of its own.
    final class PlayingCheck {
      let name = LiveGraph.uniqueName()
      private(set) var server: Program
      let check: Program

      init(_ home: PinnaHome) throws {
        server = try Self.start(name)
        check = try Program(
          try PinnaHome.binary(), ["check", "--preset", "pair", "--play", "--server", name],
          environment: home.environment)
        try #require(
          try waitUntil(seconds: 60) {
            try ports().contains("system:playback_2\n   check-\(check.pid):out_2") || !check.isRunning
          })
        try #require(check.isRunning, "\(check.errorText)")
      }

      deinit {
        check.stop()
        server.stop()
      }

      private static func start(_ name: String) throws -> Program {
        let server = try Program("/usr/bin/jackd", ["-n", name, "-r", "-d", "dummy", "-p", "256"])
        try #require(try waitUntil(seconds: 10) { try ports(name).contains("system:playback_2") })
        return server
      }

      private static func ports(_ name: String) throws -> String {
        try Program.run("/usr/bin/jack_lsp", ["-s", name, "-c"]).output
      }

      func ports() throws -> String { try Self.ports(name) }

      /// Starting the server again frees its slot among the machine's eight.
      func killServer() throws {
        server.signal(SIGKILL)
        _ = check.wait(seconds: 20)
        server = try Self.start(name)
      }
    }

    @Test("check --play plays its output on the playback ports")
    func play() throws {
      let playing = try PlayingCheck(try Self.home())
      let outcome = try #require(playing.check.wait(seconds: 20))
      #expect(outcome.status == 0 && outcome.output.contains("  Front, portrait"), "\(outcome)")
    }

    @Test("a signal ends check --play with the status of its findings")
    func playInterrupted() throws {
      let playing = try PlayingCheck(try Self.home())
      playing.check.signal(SIGINT)
      let outcome = try #require(playing.check.wait(seconds: 2))
      #expect(outcome.status == 0 && outcome.output.contains("in all 1 cases"), "\(outcome)")
    }

    @Test("check --play ends with status 3 when the server dies, after reporting its findings")
    func playWithoutServer() throws {
      let playing = try PlayingCheck(try Self.home())
      try playing.killServer()
      let outcome = try #require(playing.check.wait(seconds: 1))
      #expect(outcome.status == 3 && outcome.output.contains("in all 1 cases"), "\(outcome)")
      #expect(outcome.error.contains("the JACK server has gone; start it again"), "\(outcome)")
    }
  }
}
