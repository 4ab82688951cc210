import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Names of other programs' clients and ports") struct ForeignNameTests {
    /// As ForeignTextTests.isClean, which has the terminal's own line breaks only.
    private func isClean(_ text: String) -> Bool {
      let unwanted = CharacterSet.controlCharacters.union(.newlines)
      return text.unicodeScalars.allSatisfy { $0 == "\n" || !unwanted.contains($0) }
    }

    @Test("R48: escapes in names of clients and ports reach status, warnings, JSON and MIDI's list escaped")
    func names() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let client = "ev\u{1b}[31mil"
      let port = "o\u{1b}]0;PWNED\u{7}\u{9b}2J"
      let ports = [port, "line\nwarning"].map { "\(client):\($0)" }
      for (port, microphone) in zip(ports, try graph.microphones()) {
        try graph.server.add(output: port)
        try graph.server.connect(port, "pinna:" + microphone)
      }
      try graph.server.add(output: "keys\u{1b}[2J:out", isMIDI: true)
      try graph.server.connect("keys\u{1b}[2J:out", "pinna:control")
      try #require(
        waitUntil(seconds: 5) {
          ((try? graph.status()["midi"] as? [String: Any])?["sources"] as? [String])?.isEmpty == false
        })
      try graph.waitForLook()
      var texts = try [["status"], ["status", "--json"], ["inputs"], ["inputs", "--json"]].map { words in
        let outcome = try graph.home.pinna(words)
        return outcome.output + outcome.error
      }
      #expect(texts[0].contains(#"keys\u{1b}[2J"#), "\(texts[0])")
      // Nothing is lost: the names are what they are.
      let connections = try #require(try graph.status()["connections"] as? [[String: Any]])
      let peers = connections.flatMap { $0["peers"] as? [String] ?? [] }
      #expect(peers.contains("\(client):\(port)"), "\(peers)")
      for port in ports { try graph.server.remove(port) }
      try #require(graph.says("has lost ev"))
      texts.append(graph.program.errorText)
      let raw = texts.count { !isClean($0) }
      for text in texts { #expect(isClean(text), "\(text.debugDescription)") }
      #expect(!graph.program.errorText.contains("\nwarning"))
      Faults.report(
        "R48",
        done: "clients and ports with escapes in their names: status, inputs, JSON, warnings with raw ones",
        measured: "\(raw)", limit: "0", kept: raw == 0)
    }

    @Test("--monitor can be given twice, and with an escaped comma names a port with one")
    func commas() throws {
      let home = try PinnaHome()
      let graph = try OfflineGraph(
        preset: "phone5", home: home,
        options: ["--monitor", #"Desk (1\, 2):in_1"#, "--monitor", #"Desk (1\, 2):in_2"#])
      for n in 1...2 { try graph.server.add(input: "Desk (1, 2):in_\(n)") }
      let isConnected = try waitUntil(seconds: 5) {
        try graph.peers(of: "Desk (1, 2):in_1") == ["pinna:out_left"]
          && graph.peers(of: "Desk (1, 2):in_2") == ["pinna:out_right"]
      }
      #expect(isConnected)
    }
  }
}
