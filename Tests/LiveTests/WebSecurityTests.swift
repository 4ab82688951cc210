import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// What hostile clients of the page cost a server's periods: R24. The others are in OfflineTests.
  @Suite("The web page and strangers") struct WebSecurityTests {
    @Test("R24: stalled browsers and 100 connections cost no periods; Pinna and the page answer meanwhile")
    func stalled() throws {
      let graph = try LiveGraph(preset: "phone5", period: 4096, options: ["--web", "0"])
      let visitor = try WebVisitor(graph)
      let before = try #require(try graph.status()["xruns"] as? Int)
      // Event streams that nobody reads.
      let stalled = (0..<16).map { _ in visitor.another }
      for visitor in stalled {
        try #require(visitor.connect(receiveBuffer: 2048))
        try visitor.send("GET", "/events")
      }
      let idle = (0..<100).map { _ in visitor.another }
      #expect(idle.count { $0.connect() } == 100)
      var slowest = Duration.zero
      _ = try waitUntil(seconds: 5, every: 100) { () throws -> Bool in
        let start = ContinuousClock.now
        #expect(try visitor.control("/pinna/set", "gain", "-\(Int.random(in: 1...9))").status == 200)
        slowest = max(slowest, .now - start)
        #expect(try graph.pinna("status").status == 0)
        return false
      }
      #expect(try visitor.another.ask("GET", "/events").status == 429)
      let added = try #require(try graph.status()["xruns"] as? Int) - before
      #expect(added == 0)
      #expect(slowest < Faults.patience(.milliseconds(500)))
      let memory = try String(
        contentsOfFile: "/proc/\(try #require(try graph.webProcess()).pid)/status",
        encoding: .utf8)
      let kilobytes = memory.firstMatch(of: /VmRSS:\s+([0-9]+)/).flatMap { Int($0.output.1) } ?? .max
      #expect(kilobytes < 200_000)
      Faults.report(
        "R24", done: "16 event streams that nobody reads, and 100 connections, for 5 s",
        measured: "\(added) xruns; a control within \(Int(slowest / .milliseconds(1))) ms",
        limit: "0; 500 ms",
        kept: added == 0 && slowest < Faults.patience(.milliseconds(500)))
    }
  }
}
