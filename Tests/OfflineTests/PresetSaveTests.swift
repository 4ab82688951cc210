import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Presets that are saved") struct PresetSaveTests {
    @Test(
      "preset save keeps the setting, and with --connections the connections, which preset use makes again")
    func save() throws {
      let graph = try OfflineGraph(
        preset: "phone5", options: ["--seat", "anna=40"], captures: 5, playbacks: 2)
      #expect(
        try graph.pinna("set", "--pattern", "cardioid", "--gain", "-3", "--high-pass", "80").status == 0)
      let (capture, playback) = ("system:capture_2", "system:playback_1")
      for (source, destination) in [(capture, "pinna:top"), ("pinna:out_left", playback)] {
        try graph.server.connect(source, destination)
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
        // phone3 has no microphone on top.
        try? graph.server.disconnect(source, destination)
      }
      // A missing connection counts as removed by the user after 200 ms.
      let isBack = try waitUntil(seconds: 0.4) {
        try graph.peers(of: capture) != [] || graph.peers(of: playback) != []
      }
      #expect(!isBack)
      #expect(try graph.pinna("preset", "use", "plain").status == 0)
      #expect(try graph.peers(of: "pinna:out_left") == [])
      #expect(try graph.pinna("preset", "use", "mine").status == 0)
      #expect(try graph.peers(of: "pinna:top") == [capture])
      #expect(try graph.peers(of: "pinna:out_left") == [playback])
      let status = try graph.status()
      #expect(
        status["polarPattern"] as? String == "cardioid" && status["gainDB"] as? Double == -3
          && status["highPassHz"] as? Double == 80 && status["seats"] as? [String] == ["anna=40"], "\(status)"
      )
    }

    @Test("a preset's connection to a port that does not exist is made when it appears, and status says so")
    func absent() throws {
      let home = try PinnaHome()
      let graph = try OfflineGraph(preset: "phone5", home: home)
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
      try graph.server.add(input: "others:in_1")
      func isConnected() throws -> Bool {
        try waitUntil(seconds: 2) { try graph.peers(of: "others:in_1") == ["pinna:out_left"] }
      }
      #expect(try isConnected())
      // The preset asks for it: a program that was quit is connected again when it returns.
      try graph.server.remove("others:in_1")
      try #require(
        graph.says("has lost others:in_1"),
        "\(graph.program.errorText)")
      try graph.server.add(input: "others:in_1")
      #expect(try isConnected())
      // Whoever disconnects it is not contradicted. Pinna has to have seen that it was made.
      let isSeen = try waitUntil(seconds: 5) {
        let connections = try graph.status()["connections"] as? [[String: Any]] ?? []
        return connections.contains { ($0["peers"] as? [String])?.contains("others:in_1") == true }
      }
      try #require(isSeen)
      try graph.server.disconnect("pinna:out_left", "others:in_1")
      let isBack = try waitUntil(seconds: 0.7) { try graph.peers(of: "others:in_1") != [] }
      #expect(!isBack)
    }
  }
}
