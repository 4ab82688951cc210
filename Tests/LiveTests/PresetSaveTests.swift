import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Presets that are saved") struct PresetSaveTests {
    @Test(
      "preset save keeps the setting, and with --connections the connections, which preset use makes again")
    func save() throws {
      let graph = try LiveGraph(preset: "phone5", captures: 5, playbacks: 2)
      #expect(
        try graph.pinna("set", "--pattern", "cardioid", "--gain", "-3", "--high-pass", "80").status == 0)
      let (capture, playback) = ("system:capture_2", "system:playback_1")
      for (source, destination) in [(capture, "pinna:top"), ("pinna:out_left", playback)] {
        _ = try Program.run("/usr/bin/jack_connect", ["-s", graph.server.name, source, destination])
      }
      try graph.waitForLook()
      let saved = try graph.pinna("preset", "save", "mine", "--connections", "--title", "Mine")
      #expect(saved.status == 0 && saved.output.hasPrefix("saved phone5: Back, cardioid as "), "\(saved)")
      #expect(try graph.pinna("preset", "save", "plain").status == 0)
      let again = try graph.pinna("preset", "save", "mine")
      #expect(again.status == 1 && again.error.contains("--force"), "\(again)")
      let shipped = try graph.pinna("preset", "save", "phone5")
      #expect(shipped.status == 1 && shipped.error.contains("--force"), "\(shipped)")
      #expect(try graph.pinna("preset", "use", "phone3").status == 0)
      for (source, destination) in [(capture, "pinna:top"), ("pinna:out_left", playback)] {
        _ = try Program.run("/usr/bin/jack_disconnect", ["-s", graph.server.name, source, destination])
      }
      usleep(400_000)
      #expect(try graph.pinna("preset", "use", "plain").status == 0)
      #expect(try graph.ports("-c")["pinna:out_left"] == [])
      #expect(try graph.pinna("preset", "use", "mine").status == 0)
      let ports = try graph.ports("-c")
      #expect(ports["pinna:top"] == [capture] && ports["pinna:out_left"] == [playback], "\(ports)")
      let status = try graph.status()
      #expect(
        status["polarPattern"] as? String == "cardioid" && status["gainDB"] as? Double == -3
          && status["highPassHz"] as? Double == 80, "\(status)")
    }

    @Test("a preset's connection to a port that does not exist is made when it appears, and status says so")
    func absent() throws {
      let home = try PinnaHome()
      let graph = try LiveGraph(preset: "phone5", home: home)
      #expect(try graph.pinna("preset", "save", "mine").status == 0)
      let file = home.configFolder + "/pinna/mine.yaml"
      let text = try String(contentsOfFile: file, encoding: .utf8)
      try (text + "connections:\n  out_left: others:in_1\n").write(
        toFile: file, atomically: true, encoding: .utf8)
      #expect(try graph.pinna("preset", "use", "mine").status == 0)
      #expect(
        try waitUntil(seconds: 10) {
          try (graph.status()["warnings"] as? [String] ?? []).contains {
            $0.contains("there is no port others:in_1, to which preset mine connects out_left")
          }
        })
      var other: SignalRecorder? = try SignalRecorder(
        name: "others", server: graph.server.name, channels: 1, capacityFrames: 480)
      func isConnected() throws -> Bool {
        try waitUntil(seconds: 2) { try graph.ports("-c")["others:in_1"] == ["pinna:out_left"] }
      }
      #expect(try isConnected())
      // The preset asks for it: a program that was quit is connected again when it returns.
      other = nil
      try #require(
        waitUntil(seconds: 5) { graph.program.errorText.contains("has lost others:in_1") },
        "\(graph.program.errorText)")
      other = try SignalRecorder(name: "others", server: graph.server.name, channels: 1, capacityFrames: 480)
      #expect(try isConnected())
      // Whoever disconnects it is not contradicted.
      _ = try Program.run(
        "/usr/bin/jack_disconnect", ["-s", graph.server.name, "pinna:out_left", "others:in_1"])
      usleep(700_000)
      #expect(try graph.ports("-c")["others:in_1"] == [])
      withExtendedLifetime(other) {}
    }
  }
}
