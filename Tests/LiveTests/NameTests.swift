import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Names in a graph") struct NameTests {
    /// Expects that status, with one sentence that contains all of `words`.
    func expect(_ outcome: Program.Outcome, _ status: Int32, _ words: String...) {
      #expect(outcome.status == status && outcome.isOneSentence, "\(outcome)")
      for word in words { #expect(outcome.error.contains(word), "\(word) in: \(outcome)") }
    }

    @Test("R21: a second Pinna of the same name is refused, and the first goes on")
    func secondOfTheSameName() throws {
      let graph = try LiveGraph(preset: "phone5")
      expect(try graph.pinna("run", "--server", graph.server.name), 1, "pinna", "--name")
      // Another user's Pinna has its sockets elsewhere, and meets the name in the graph.
      expect(try PinnaHome().pinna("run", "--server", graph.server.name), 1, "pinna", "--name")
      #expect(try graph.pinna("set", "--gain", "-1").status == 0)
      let other = try graph.home.start(["--server", graph.server.name, "--name", "other"])
      #expect(
        try waitUntil(seconds: 10) { try graph.pinna("set", "--name", "other", "--gain", "-2").status == 0 })
      #expect(try graph.status()["gainDB"] as? Double == -1)
      #expect(try graph.pinna("stop", "--name", "other").status == 0)
      #expect(other.wait(seconds: 5)?.status == 0)
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 5)?.status == 0)
      #expect(!FileManager.default.fileExists(atPath: graph.home.runtimeFolder + "/pinna/pinna.sock"))
    }
  }
}
