import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna run --connect") struct ConnectTests {
    /// The sources that each of Pinna's microphones is connected to.
    func sources(_ graph: LiveGraph) throws -> [String: [String]] {
      let ports = try graph.ports("-c")
      return Dictionary(
        uniqueKeysWithValues: try graph.microphones().map { ($0, (ports["pinna:\($0)"] ?? []).sorted()) })
    }

    /// The sound card's inputs, one per microphone in order.
    func capturesInOrder(_ graph: LiveGraph) throws -> [String: [String]] {
      Dictionary(
        uniqueKeysWithValues: try graph.microphones().enumerated().map {
          ($1, ["system:capture_\($0 + 1)"])
        })
    }

    func use(_ preset: String, _ graph: LiveGraph) throws {
      let outcome = try graph.pinna("preset", "use", preset)
      try #require(outcome.status == 0, "\(outcome)")
    }

    func patch(_ verb: String, _ source: String, _ microphone: String, _ graph: LiveGraph) throws {
      let outcome = try Program.run(
        "/usr/bin/jack_\(verb)", ["-s", graph.server.name, source, "pinna:\(microphone)"])
      try #require(outcome.status == 0, "\(outcome)")
      // Longer than the 200 ms after which a missing connection counts as removed by the user.
      usleep(600_000)
      try graph.waitForLook()
    }

    @Test("every new device's microphones are connected to the sound card's inputs in order")
    func everyDevice() throws {
      let graph = try LiveGraph(preset: "phone5", options: ["--connect"], captures: 8, playbacks: 2)
      #expect(try sources(graph) == capturesInOrder(graph))
      for preset in ["linear8", "ring7", "phone5", "phone2", "linear8"] {
        try use(preset, graph)
        #expect(try sources(graph) == capturesInOrder(graph), "\(preset)")
      }
    }

    @Test("a microphone that two devices have at different positions is moved if Pinna made the connection")
    func otherPlace() throws {
      let home = try PinnaHome()
      try home.add(PinnaHome.duo, named: "duo")
      let graph = try LiveGraph(
        preset: "phone5", home: home, options: ["--connect"], captures: 8, playbacks: 2)
      try use("duo", graph)
      #expect(try sources(graph) == capturesInOrder(graph))
      try use("phone5", graph)
      #expect(try sources(graph) == capturesInOrder(graph))
    }

    @Test("connections that the user made or removed are left alone")
    func usersChoice() throws {
      let graph = try LiveGraph(preset: "phone5", options: ["--connect"], captures: 8, playbacks: 2)
      try patch("disconnect", "system:capture_1", "bottom-left", graph)
      try use("linear8", graph)
      try patch("disconnect", "system:capture_3", "line-3", graph)
      try patch("connect", "system:capture_8", "line-1", graph)
      for _ in 0..<2 {
        try use("phone5", graph)
        var expected = try capturesInOrder(graph)
        expected["bottom-left"] = []
        #expect(try sources(graph) == expected)
        try use("linear8", graph)
        expected = try capturesInOrder(graph)
        expected["line-3"] = []
        expected["line-1"] = ["system:capture_1", "system:capture_8"]
        #expect(try sources(graph) == expected)
      }
    }

    @Test(
      "connections that the user removed stay removed when the server comes back; the others are restored")
    func serverComesBack() throws {
      let graph = try LiveGraph(preset: "phone5", options: ["--connect"], captures: 8, playbacks: 2)
      try patch("disconnect", "system:capture_1", "bottom-left", graph)
      graph.killServer()
      try #require(waitUntil(seconds: 5) { graph.program.errorText.contains("has gone") })
      try graph.restartServer()
      var expected = ["bottom-left": [String]()]
      for (n, name) in ["bottom-right", "front", "back", "top"].enumerated() {
        expected[name] = ["system:capture_\(n + 2)"]
      }
      #expect(try waitUntil(seconds: 10) { try sources(graph) == expected })
      usleep(500_000)
      #expect(try sources(graph) == expected)
    }

    @Test("a device that names its capture ports is connected to them from the start")
    func capturePorts() throws {
      let home = try PinnaHome()
      try home.add(
        PinnaHome.pair + "capturePorts: [\"system:capture_4\", \"system:capture_3\"]\n", named: "pair")
      let graph = try LiveGraph(preset: "pair", home: home, options: ["--connect"], captures: 8, playbacks: 2)
      let expected = ["left-end": ["system:capture_4"], "right-end": ["system:capture_3"]]
      #expect(try sources(graph) == expected)
      try use("phone5", graph)
      #expect(try sources(graph) == capturesInOrder(graph))
      try use("pair", graph)
      #expect(try sources(graph) == expected)
    }

    @Test("each line input is connected to its own capture port and not to the previous one")
    func lineInputs() throws {
      let graph = try LiveGraph(preset: "phone5", options: ["--connect"], captures: 3, playbacks: 2)
      for port in ["system:capture_1", "system:capture_2", "system:capture_1"] {
        try #require(try graph.pinna("set", "--input", port).status == 0)
        #expect(try sources(graph) == ["line": [port]])
      }
    }
  }
}
