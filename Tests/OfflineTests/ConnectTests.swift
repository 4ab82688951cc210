import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("pinna run --connect") struct ConnectTests {
    /// The sources that each of Pinna's microphones is connected to.
    func sources(_ graph: OfflineGraph) throws -> [String: [String]] {
      Dictionary(
        uniqueKeysWithValues: try graph.microphones().map { ($0, try graph.peers(of: "pinna:\($0)")) })
    }

    /// The sound card's inputs, one per microphone in order.
    func capturesInOrder(_ graph: OfflineGraph) throws -> [String: [String]] {
      Dictionary(
        uniqueKeysWithValues: try graph.microphones().enumerated().map {
          ($1, ["system:capture_\($0 + 1)"])
        })
    }

    func use(_ preset: String, _ graph: OfflineGraph) throws {
      let outcome = try graph.pinna("preset", "use", preset)
      try #require(outcome.status == 0, "\(outcome)")
    }

    /// Connects or disconnects as another program would, and waits until Pinna has seen it.
    func patch(_ verb: String, _ source: String, _ microphone: String, _ graph: OfflineGraph) throws {
      try graph.server.command(verb, source, "pinna:\(microphone)")
      // A missing connection counts as removed by the user after 200 ms.
      let isBack =
        try verb == "disconnect"
        && waitUntil(seconds: 0.6) { try graph.peers(of: "pinna:\(microphone)").contains(source) }
      #expect(!isBack)
      try graph.waitForLook()
    }

    @Test("every new device's microphones are connected to the sound card's inputs in order")
    func everyDevice() throws {
      let graph = try OfflineGraph(preset: "phone5", options: ["--connect"], captures: 8, playbacks: 2)
      #expect(try sources(graph) == capturesInOrder(graph))
      for preset in ["linear8", "ring7", "phone5", "phone2", "linear8"] {
        try use(preset, graph)
        #expect(try sources(graph) == capturesInOrder(graph), "\(preset)")
      }
    }

    @Test(
      "--connect connects what it names, and says headphones where both go to one card; the other side stays alone",
      arguments: ["microphones", "outputs", "all", nil])
    func parts(word: String?) throws {
      let home = try PinnaHome()
      // A run before had all connections, made by the user, which come back only where they are wanted. Those that
      // --connect makes are not remembered: each run makes its own anew.
      for options in [[], ["--connect"] + [word].compactMap(\.self)] as [[String]] {
        let graph = try OfflineGraph(
          preset: "phone5", home: home, options: options, captures: 8, playbacks: 2)
        if options.isEmpty {
          for (microphone, captures) in try capturesInOrder(graph) {
            try patch("connect", captures[0], microphone, graph)
          }
          // Last, and without another choice of the output, which would have it as its own.
          try graph.server.connect("pinna:out_left", "system:playback_1")
          let isSeen = try waitUntil(seconds: 5) {
            let connections = try graph.status()["connections"] as? [[String: Any]] ?? []
            return connections.contains { $0["port"] as? String == "out_left" }
          }
          try #require(isSeen)
        }
        let isAll = !options.isEmpty && (word ?? "all") == "all"
        let outputs = options.isEmpty || isAll || word == "outputs" ? ["system:playback_1"] : []
        #expect(try graph.peers(of: "pinna:out_left") == outputs, "\(options)")
        #expect(try waitUntil(seconds: 5) { try sources(graph) == capturesInOrder(graph) }, "\(options)")
        if !options.isEmpty {
          try graph.waitForLook()
          // What the last run had would have come back by now, and stayed.
          let isLeft = try waitUntil(seconds: 5) { try graph.peers(of: "pinna:out_left") == outputs }
          #expect(isLeft, "\(options)")
        }
        #expect(graph.says("headphones", seconds: isAll ? 5 : 0) == isAll, "\(graph.program.errorText)")
        try #require(try graph.pinna("stop").status == 0)
        _ = graph.program.wait(seconds: 5)
      }
      let refused = try home.pinna(["run", "--connect=speakers"])
      #expect(refused.status == 2 && refused.error.contains("microphones, outputs or all"), "\(refused)")
    }

    @Test("a microphone that two devices have at different positions is moved if Pinna made the connection")
    func otherPlace() throws {
      let home = try PinnaHome()
      try home.add(PinnaHome.duo, named: "duo")
      let graph = try OfflineGraph(
        preset: "phone5", home: home, options: ["--connect"], captures: 8, playbacks: 2)
      try use("duo", graph)
      #expect(try sources(graph) == capturesInOrder(graph))
      try use("phone5", graph)
      #expect(try sources(graph) == capturesInOrder(graph))
    }

    /// PipeWire names clients after descriptions, which may have colons.
    @Test(
      "--connect-from takes the ports of that client, not those of one whose name goes on after a colon",
      arguments: ["Dock", "Dock: Mic"])
    func colons(source: String) throws {
      let graph = try OfflineGraph(preset: "phone2", options: ["--connect-from", source])
      for client in ["Dock: Mic", "Dock"] {
        try graph.server.take(name: client)
        for n in 1...2 { try graph.server.add(output: "\(client):out_\(n)") }
      }
      let expected = try graph.microphones().indices.map { ["\(source):out_\($0 + 1)"] }
      let found = { try graph.microphones().map { try sources(graph)[$0] ?? [] } }
      let isConnected = try waitUntil(seconds: 5) { try found() == expected }
      let last = try found()
      #expect(isConnected, "\(last)")
    }

    @Test("a port that is renamed without a word stays connected, and is restored under its new name")
    func renamed() throws {
      let graph = try OfflineGraph(preset: "phone2")
      let microphone = try graph.microphones()[0]
      try graph.server.add(output: "array:1")
      try patch("connect", "array:1", microphone, graph)
      try graph.command("rename", "array:1", "array:left")
      let isSeen = try waitUntil(seconds: 5) {
        let connections = try graph.status()["connections"] as? [[String: Any]] ?? []
        return connections.contains { $0["peers"] as? [String] == ["array:left"] }
      }
      #expect(try isSeen && graph.peers(of: "pinna:" + microphone) == ["array:left"])
      try graph.server.remove("array:left")
      try graph.waitForLook()
      try graph.server.add(output: "array:left")
      #expect(
        try waitUntil(seconds: 5) { try graph.peers(of: "pinna:" + microphone) == ["array:left"] },
        "\(graph.program.errorText)")
    }

    @Test("connections that the user made or removed are left alone")
    func usersChoice() throws {
      let graph = try OfflineGraph(preset: "phone5", options: ["--connect"], captures: 8, playbacks: 2)
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
      let graph = try OfflineGraph(preset: "phone5", options: ["--connect"], captures: 8, playbacks: 2)
      try patch("disconnect", "system:capture_1", "bottom-left", graph)
      // Pinna knows of it.
      try graph.waitForLook()
      try graph.killServer()
      try #require(graph.says("has gone"))
      graph.restartServer()
      // Until then, the connections are those of the dead server.
      try #require(waitUntil(seconds: 10) { try graph.status()["server"] as? String == "running" })
      var expected = ["bottom-left": [String]()]
      for (n, name) in ["bottom-right", "front", "back", "top"].enumerated() {
        expected[name] = ["system:capture_\(n + 2)"]
      }
      #expect(try waitUntil(seconds: 10) { try sources(graph) == expected })
      var found = expected
      let isChanged = try waitUntil(seconds: 0.5) {
        found = try sources(graph)
        return found != expected
      }
      #expect(!isChanged, "\(found)")
    }

    @Test("a device that names its capture ports is connected to them from the start")
    func capturePorts() throws {
      let home = try PinnaHome()
      try home.add(
        PinnaHome.pair + "capturePorts: [\"system:capture_4\", \"system:capture_3\"]\n", named: "pair")
      let graph = try OfflineGraph(
        preset: "pair", home: home, options: ["--connect"], captures: 8, playbacks: 2)
      let expected = ["left-end": ["system:capture_4"], "right-end": ["system:capture_3"]]
      #expect(try sources(graph) == expected)
      try use("phone5", graph)
      #expect(try sources(graph) == capturesInOrder(graph))
      try use("pair", graph)
      #expect(try sources(graph) == expected)
    }

    @Test("a capture port that the user disconnected stays so when the sample rate changes")
    func otherRate() throws {
      let home = try PinnaHome()
      try home.add(
        PinnaHome.pair + "capturePorts: [\"system:capture_4\", \"system:capture_3\"]\n", named: "pair")
      let graph = try OfflineGraph(
        preset: "pair", home: home, options: ["--connect"], captures: 8, playbacks: 2)
      try patch("disconnect", "system:capture_4", "left-end", graph)
      try graph.command("rate", "44100")
      try #require(graph.says("the sample rate is 44100 Hz now", seconds: 30))
      // What its microphones were connected to would be there by then.
      for _ in 0..<2 { try graph.waitForLook() }
      #expect(try sources(graph) == ["left-end": [], "right-end": ["system:capture_3"]])
    }

    @Test("each line input is connected to its own capture port and not to the previous one")
    func lineInputs() throws {
      let graph = try OfflineGraph(preset: "phone5", options: ["--connect"], captures: 3, playbacks: 2)
      for port in ["system:capture_1", "system:capture_2", "system:capture_1"] {
        try #require(try graph.pinna("set", "--input", port).status == 0)
        #expect(try sources(graph) == ["line": [port]])
      }
    }
  }
}
