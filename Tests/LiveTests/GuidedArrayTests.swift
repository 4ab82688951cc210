import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna array check --guided") struct GuidedArrayTests {
    private static let rate = 48000

    /// An array of four microphones, whose capture ports are those of four players.
    private static let device = """
      title: Four
      body: free
      capturePorts: ["tap-1:out_1", "tap-2:out_1", "tap-3:out_1", "tap-4:out_1"]
      microphones:
        a: [0, 0, 0]
        b: [30, 0, 0]
        c: [0, 0, 30]
        d: [0, 30, 0]
      dataSources:
        Front:
          forward: +z
          microphones: [a, b, c, d]
          polarPatterns: [omnidirectional]
      """

    /// A click that decays within 20 ms, and silence.
    private static let click: [Float] = (0..<9600).map { n in
      let envelope: Float = n < 960 ? 0.3 - 0.3 * Float(n) / 960 : 0
      return n % 2 == 0 ? envelope : -envelope
    }

    /// Runs the check, and taps on a channel when the microphone of its turn is asked for.
    private func run(_ options: [String], taps: [Int?]) throws -> Program.Outcome {
      let server = try PrivateServer(
        name: LiveGraph.uniqueName(), sampleRate: Self.rate, period: 256, synchronous: false)
      defer { server.stop() }
      let home = try PinnaHome()
      let file = home.folder.path + "/four.yaml"
      try Self.device.write(toFile: file, atomically: true, encoding: .utf8)
      let players = try (1...4).map {
        try SignalPlayer(name: "tap-\($0)", server: server.name, channels: [Self.click])
      }
      let clock = try FrameClock(server: server.name)
      defer { withExtendedLifetime((players, clock)) {} }
      let program = try Program(
        PinnaHome.binary(),
        ["array", "check", "--device", file, "--live", "--guided", "--server", server.name] + options,
        environment: home.environment)
      defer { program.stop() }
      for (name, channel) in zip(["a", "b", "c", "d"], taps) {
        let isAsked = waitUntil(seconds: 30, every: 20) {
          !program.isRunning || program.errorText.contains("tap on \(name)\n")
        }
        try #require(isAsked && program.isRunning, "\(program.errorText)")
        try clock.wait(frames: 19_200)
        if let channel { players[channel].start() }
      }
      return try #require(program.wait(seconds: 30))
    }

    @Test("every microphone is asked for, and swapped and silent ones are named")
    func swapped() throws {
      let outcome = try run(["--seconds", "3"], taps: [0, 2, 1, nil])
      #expect(outcome.status == 1, "\(outcome)")
      #expect(outcome.error.contains("tap on b\n  c answers\ntap on c\n  b answers"), "\(outcome.error)")
      #expect(outcome.error.contains("tap on d\n  no answer in 3 s"))
      #expect(outcome.output.contains("b and c are swapped: "), "\(outcome.output)")
      #expect(outcome.output.contains("d did not answer: "))
    }

    @Test("an array in order is well, also as a document")
    func inOrder() throws {
      let outcome = try run(["--seconds", "3", "--json"], taps: [0, 1, 2, 3])
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try outcome.json()["well"] as? Bool == true)
    }

    @Test("where a microphone of a running Pinna is unconnected, nothing else is listened to: it is named")
    func unconnected() throws {
      let graph = try LiveGraph(preset: "phone5")
      let player = try graph.player([[Float]](repeating: [0, 0], count: 5))
      let unplugged = try Program.run(
        "/usr/bin/jack_disconnect",
        ["-s", graph.server.name, "player:out_2", "pinna:\(graph.microphones()[1])"])
      #expect(unplugged.status == 0, "\(unplugged)")
      for words in [["check"], ["calibrate", "--yes"]] {
        let outcome = try graph.home.pinna(
          ["array"] + words + ["--device", "phone5", "--live", "--server", graph.server.name])
        #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
        #expect(
          outcome.error.contains(
            "pinna:\(try graph.microphones()[1]) is not connected, and the other microphones of pinna are"),
          "\(outcome)")
      }
      withExtendedLifetime(player) {}
    }

    @Test("without --live, and with a file, it is one sentence and status 2")
    func usage() throws {
      let home = try PinnaHome()
      for (words, text) in [
        (["--guided"], "--guided needs --live"), (["--guided", "--live", "x.wav"], "remove x.wav"),
      ] {
        let outcome = try home.pinna(["array", "check", "--device", "uma8"] + words)
        #expect(outcome.status == 2 && outcome.error.contains(text), "\(outcome)")
        #expect(outcome.error.split(separator: "\n").count == 1)
      }
    }
  }
}
