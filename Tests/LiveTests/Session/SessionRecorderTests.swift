import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Outputs of a session among other clients") struct SessionRecorderTests {
    @Test(
      "S19: monitor ports of a client that joins the graph some time after it has them are connected then")
    func inactive() throws {
      let graph = try LiveGraph(
        preset: "phone2", synchronous: true, options: ["--monitor", "late:in_1,late:in_2"])
      let late = try JackConnection(name: "late", server: graph.serverName)
      defer { late.close() }
      for port in ["in_1", "in_2"] { _ = try late.registerPort(port, .input) }
      // jackd connects no ports of a client that is not active: Pinna has tried, and told nobody.
      try graph.waitForLook()
      #expect(try graph.ports("-c")["late:in_1"] == [])
      try late.activate()
      #expect(
        try waitUntil(seconds: 3) {
          let peers = try graph.ports("-c")
          return peers["late:in_1"] == ["pinna:out_left"] && peers["late:in_2"] == ["pinna:out_right"]
        })
      #expect(!graph.program.errorText.contains("refuses"), "\(graph.program.errorText)")
    }
  }
}
