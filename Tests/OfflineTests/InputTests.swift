import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Microphone signals and their warnings") struct InputTests {
    static let noise: [[Float]] = SeededNoise.channels(5, 48_000, amplitude: 0.25, seed: 12)

    func warnings(_ graph: OfflineGraph) throws -> [String] {
      try #require(try graph.status()["warnings"] as? [String])
    }

    @Test("status and doctor say why nothing is heard, until something is")
    func silence() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5, playbacks: 2)
      func becomes(_ reason: String?) throws -> Bool {
        try waitUntil(seconds: 10) {
          let found = try graph.status()["silence"] as? String
          return reason.map { found?.hasPrefix($0) == true } ?? (found == nil)
        }
      }
      #expect(try becomes("no microphone is connected; "))
      #expect(try graph.pinna("status").output.contains("\nnothing is heard: no microphone is connected; "))
      try graph.play(SeededNoise.loop(channels: 5).map { $0.map { $0 * 1e-6 } })
      #expect(try becomes("no signal comes from any microphone; "))
      try graph.play(SeededNoise.loop(channels: 5))
      #expect(try becomes("the outputs are connected to nothing; "))
      let doctor = try graph.pinna("doctor")
      #expect(doctor.output.contains("warning  sound of pinna"), "\(doctor)")
      try graph.server.connect("pinna:out_left", "system:playback_1")
      #expect(try becomes(nil))
      for (option, value, reason) in [
        ("--mute", "on", "the outputs are muted; "), ("--mute", "off", nil),
        ("--gain", "-60", "the gain is -60 dB; "),
      ] as [(String, String, String?)] {
        try #require(try graph.pinna("set", option, value).status == 0)
        #expect(try becomes(reason), "\(option) \(value)")
      }
    }

    @Test("of many silent microphones one warning says which one has a signal")
    func oneOfMany() throws {
      let graph = try OfflineGraph(preset: "linear8", captures: 8)
      let tone = SeededNoise.loop(channels: 8).enumerated().map { n, samples in
        n == 2 ? samples : [Float](repeating: 0, count: samples.count)
      }
      try graph.play(tone)
      let isWarned = try waitUntil(seconds: 20) {
        let warnings = try graph.status()["warnings"] as? [String] ?? []
        return warnings.count { $0.hasPrefix("only line-3 has a signal; silent: line-1, line-2, ") } == 1
          && !warnings.contains { $0.hasSuffix("is silent while others are not") }
      }
      let found = try graph.status()["warnings"]
      #expect(isWarned, "\(found ?? "")")
    }

    @Test("a connection that the user removed stays removed")
    func disconnected() throws {
      let graph = try OfflineGraph(preset: "phone5")
      try graph.server.add(output: "source:out_1")
      try graph.server.connect("source:out_1", "pinna:front")
      try graph.waitForLook()
      try graph.server.disconnect("source:out_1", "pinna:front")
      // Long after Pinna has noticed, and after the 200 ms for which the connection counts as lost.
      let isBack = try waitUntil(seconds: 0.6) { try graph.peers(of: "pinna:front") != [] }
      try graph.waitForLook()
      #expect(try !isBack && graph.peers(of: "pinna:front") == [])
      #expect(try warnings(graph).allSatisfy { !$0.contains("lost") })
    }

    @Test(
      "R14: a microphone with invalid samples is muted, named in status, reported once, and restored when clean"
    )
    func garbage() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      // Shorter than the time for which a microphone stays muted.
      var channels = Self.noise.map { Array($0.prefix(OfflineGraph.repetition)) }
      channels[2][100] = .nan
      channels[2][200] = .infinity
      let name = try graph.microphones()[2]
      try graph.play(channels)
      #expect(try waitUntil(seconds: 1) { try graph.status()["mutedMicrophones"] as? [String] == [name] })
      #expect(try waitUntil(seconds: 1) { try warnings(graph).contains { $0.hasPrefix("\(name) is muted") } })
      try graph.play(Self.noise)
      #expect(try waitUntil(seconds: 3) { try graph.status()["mutedMicrophones"] as? [String] == [] })
      let reports = graph.program.errorText.components(separatedBy: "\(name) is muted").count - 1
      #expect(reports == 1)
    }

    @Test("missing, silent and duplicate microphone signals are reported once and listed in status", .long)
    func suspicious() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 3)
      let names = try graph.microphones()
      #expect(try waitUntil(seconds: 5) { try warnings(graph) == ["no microphone is connected"] })
      // The third microphone is silent, the fourth shares the second's source, the fifth is not connected.
      let channels = [Self.noise[0], Self.noise[1], [Float](repeating: 0, count: 48_000)]
      try graph.play(channels)
      try graph.server.connect("system:capture_2", "pinna:\(names[3])")
      let expected = [
        "\(names[1]) and \(names[3]) carry the same signal: both are connected to system:capture_2",
        "\(names[2]) is silent while others are not", "not connected: \(names[4])",
      ]
      #expect(try waitUntil(seconds: 10) { try warnings(graph).sorted() == expected.sorted() })
      // What is said comes a moment after the status.
      for sentence in expected {
        #expect(graph.says("pinna: \(sentence)\n"))
      }
      for sentence in expected {
        #expect(graph.program.errorText.components(separatedBy: "pinna: \(sentence)\n").count == 2)
      }
      #expect(try graph.pinna("status").output.contains("warning: \(expected[0])"))
    }

    @Test(
      "a voice straight ahead, equal at symmetrical microphones, causes no warning"
    )
    func symmetry() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let names = try graph.microphones()
      let channels = names.indices.map { Self.noise[$0 == 1 ? 0 : $0] }
      try graph.play(channels)
      try graph.wait(frames: 12 * 48_000)
      #expect(try warnings(graph) == [])
      #expect(!graph.program.errorText.contains("same signal"))
    }

    @Test("a missing monitor port is reported once and listed in status")
    func mistypedMonitor() throws {
      let graph = try OfflineGraph(
        preset: "phone5", options: ["--monitor", "system:playback_1,system:playbck_2"], captures: 5,
        playbacks: 2)
      let sentence = "there is no port system:playbck_2 for the outputs"
      #expect(try waitUntil(seconds: 6) { try warnings(graph).contains { $0.hasPrefix(sentence) } })
      #expect(try !warnings(graph).contains { $0.contains("playback_1") })
      #expect(graph.says(sentence))
      let isTwice = waitUntil(seconds: 1) {
        graph.program.errorText.components(separatedBy: sentence).count > 2
      }
      #expect(!isTwice)
      #expect(graph.program.errorText.components(separatedBy: sentence).count == 2)
      try #require(try graph.pinna("set", "--output", "none").status == 0)
      #expect(try waitUntil(seconds: 2) { try !warnings(graph).contains { $0.hasPrefix(sentence) } })
    }

    @Test("the device's microphones return from a line input with their last selection")
    func fromALineInput() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 2)
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
      let graph = try OfflineGraph(preset: "phone5")
      let ports = ["out_left", "out_right", "control"] + (try graph.microphones())
      #expect(try graph.server.ports().filter { $0.hasPrefix("pinna:") } == ports.map { "pinna:\($0)" })
    }
  }
}
