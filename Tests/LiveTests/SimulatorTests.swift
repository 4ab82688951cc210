import AudioFiles
import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna simulate") struct SimulatorTests {
    static let scene = """
      title: A walk past a ring
      device: ring7
      facing: {dataSource: Front, inputOrientation: portrait}
      room: {size: [6, 4.5, 2.7], device: [3, 2.2, 0.8], absorption: 0.4, order: 1}
      noise: {sensor: -70, diffuse: -60}
      talkers:
        - voice: noise
          seconds: 0.5
          path: [{at: 0, position: [1, 1, 0]}, {at: 0.5, position: [1.5, -1, 0]}]

      """
    static let microphones = (1...6).map { "ring-\($0)" } + ["centre"]

    private func start(_ graph: LiveGraph, _ words: String...) throws -> Program {
      let path = try graph.home.folder.write(Self.scene, to: "scene.yaml")
      return try Program(
        try PinnaHome.binary(), ["simulate", path, "--live", "--server", graph.server.name] + words,
        environment: graph.home.environment)
    }

    @Test("S20: a looped scene reaches Pinna's microphones live bit for bit as it is written to a file")
    func liveIsFile() throws {
      let graph = try LiveGraph(preset: "ring7")
      let source = try start(graph, "--connect", "--loop")
      try #require(waitUntil(seconds: 30) { graph.hasPort("scene:centre") || !source.isRunning })
      let output = graph.home.folder.path + "/scene.wav"
      let written = try graph.pinna("simulate", "--force", graph.home.folder.path + "/scene.yaml", output)
      try #require(written.status == 0, "\(written)")
      let file = try AudioClip(path: output)
      let recorder = try SignalRecorder(
        name: "ears", server: graph.server.name, channels: 7, capacityFrames: 100 * file.frames)
      #expect(recorder.connect(from: Self.microphones.map { "scene:\($0)" }))
      let heard = try graph.freewheel {
        let from = recorder.frames + 4096
        try #require(waitUntil(seconds: 30) { recorder.frames >= from + 3 * file.frames })
        return recorder.everything.map { Array($0[from..<from + 3 * file.frames]) }
      }
      let lag = try #require(
        (0...file.frames).first { lag in
          (0..<64).allSatisfy { heard[0][lag + $0] == file.channels[0][$0] }
        }, "the scene's beginning")
      for (channel, expected) in zip(heard, file.channels) {
        #expect(level(expected) > -50)
        #expect(differences(channel[lag..<lag + 2 * file.frames], expected + expected) == 0)
      }
      let connections = try graph.ports("-c")
      for name in Self.microphones {
        #expect(connections["scene:\(name)"]?.contains("pinna:\(name)") == true)
      }
      // Pinna's meters show the signal.
      let levels = try #require(try graph.status()["levels"] as? [String: Any])
      for port in try #require(levels["microphones"] as? [[String: Any]]) {
        #expect(try #require(port["rmsDB"] as? Double) > -50, "\(port)")
      }
      source.signal(SIGINT)
      #expect(source.wait(seconds: 10)?.status == 0)
      #expect(!graph.hasPort("scene:centre"))
    }

    @Test("without --loop, simulate plays once, makes no connections, and reports what it played")
    func once() throws {
      let graph = try LiveGraph(preset: "ring7")
      let source = try start(graph, "--json", "--client", "stage")
      try #require(waitUntil(seconds: 30) { graph.hasPort("stage:ring-1") || !source.isRunning })
      #expect(try graph.ports("-c").allSatisfy { !$0.key.hasPrefix("stage:") || $0.value.isEmpty })
      let outcome = try #require(source.wait(seconds: 20))
      #expect(outcome.status == 0, "\(outcome)")
      let json = try outcome.json()
      #expect(json["client"] as? String == "stage" && json["device"] as? String == "ring7")
      #expect(json["microphones"] as? [String] == Self.microphones)
      let frames = try #require(json["frames"] as? Int)
      #expect(json["played"] as? Int == frames && frames > 24_000 && json["sampleRate"] as? Int == 48000)
    }

    @Test("simulate refuses impossible requests in one sentence")
    func refusals() throws {
      let graph = try LiveGraph(preset: "tetra")
      for (words, status, says) in [
        (["--connect"], 1, "has no microphone \"ring-1\""), (["--connect", "--name", "nobody"], 4, "nobody"),
        (["--client", "pinna"], 1, "pinna"), (["--rate", "44100"], 2, "--rate"),
        (["out.wav"], 2, "OUT.wav"), (["--server", LiveGraph.uniqueName()], 3, "JACK server"),
      ] as [([String], Int32, String)] {
        let path = try graph.home.folder.write(Self.scene, to: "scene.yaml")
        let outcome = try graph.home.pinna(
          ["simulate", path, "--live", "--server", graph.server.name] + words)
        #expect(outcome.status == status && outcome.isOneSentence, "\(words): \(outcome)")
        #expect(outcome.error.contains(says), "\(words): \(outcome)")
      }
      for option in ["--connect", "--loop"] {
        let outcome = try graph.pinna("simulate", "scene.yaml", "out.wav", option)
        #expect(
          outcome.status == 2 && outcome.isOneSentence && outcome.error.contains("--live"), "\(outcome)")
      }
    }
  }
}
