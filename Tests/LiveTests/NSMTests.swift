import Foundation
import JackClient
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// A real `pinna` on a private server, driven by a session manager that speaks the NSM protocol. What needs no server is
  /// in OfflineTests.
  @Suite("NSM") struct NSMTests {
    @Test("a switch to an ID that the JACK server would refuse is refused, and the open project goes on")
    func takenID() throws {
      let graph = try NSMGraph(
        server: PrivateServer(
          name: LiveGraph.uniqueName(), sampleRate: 48000, period: 128, synchronous: true, captures: 2,
          playbacks: 2))
      try graph.begin("a")
      #expect(try graph.pinna("set", "--gain", "-5").status == 0)
      // Client names of jackd's own, one without ports; under PipeWire, of the device's node.
      let taken = try #require(
        try graph.server.ports("-c").keys.first { $0.hasPrefix("system:") }?.split(separator: ":").first)
      for id in [String(taken)] + (JackLibrary.isPipeWire ? [] : ["freewheel", graph.server.name]) {
        let error = try graph.manager.open(graph.sessions + "/b/x", id: id)
        #expect(error?.code == -1 && error?.sentence.contains(id) == true, "\(error as Any)")
        #expect(access(graph.sessions + "/b", F_OK) != 0)
      }
      #expect(try graph.server.ports("-c")["pinna.nTEST:front"] != nil)
      #expect(try graph.status()["gainDB"] as? Double == -5)
      #expect(try graph.manager.open(graph.sessions + "/b/pinna.nFREE", id: "pinna.nFREE") == nil)
    }
  }
}
