import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("Stalled graphs") struct StallTests {
    /// The time until `status` reports the stall; nil if it does not within three seconds.
    func stalled(_ graph: LiveGraph) throws -> Duration? {
      let start = ContinuousClock.now
      return try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "stalled" }
        ? .now - start : nil
    }

    func report(_ took: Duration?, _ done: String) {
      if let took { Faults.report("R36", done: done, took: took, limit: .milliseconds(1500)) }
    }

    @Test("R36: when jackd stalls silently, status says stalled, and the take records how long")
    func suspendedServer() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
      let path = try graph.startTake(frames: 14_400)
      kill(graph.server.pid, SIGSTOP)
      let began = ContinuousClock.now
      let took = try stalled(graph)
      #expect(took ?? .seconds(9) <= .milliseconds(1500))
      report(took, "jackd stopped: stalled in status")
      kill(graph.server.pid, SIGCONT)
      let stallDuration = ContinuousClock.now - began
      #expect(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "running" })
      try graph.waitForTake(frames: graph.takeFrames() + 14_400)
      _ = try graph.pinna("record", "stop")
      let pause = try #require(try TakeFiles.sidecar(path).pauses.max { $0.seconds < $1.seconds })
      #expect(abs(pause.seconds - stallDuration / .seconds(1)) < 0.1)
    }

    @Test(
      "R36: status says stalled when a stopped program leaves freewheel on",
      .enabled(
        if: access("/usr/bin/jack_metro", X_OK) == 0, "there is no jack_metro, the client that is stopped"))
    func freewheelLeftOn() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
      let metro = try Program(
        "/usr/bin/jack_metro", ["-b", "60"],
        environment: graph.jackEnvironment)
      defer { metro.signal(SIGCONT) }
      try #require(
        try waitUntil(seconds: 5) { try graph.ports("-c").keys.contains { $0.hasPrefix("metro") } })
      try graph.freewheel {
        metro.signal(SIGSTOP)
        defer { metro.signal(SIGCONT) }
        let took = try stalled(graph)
        #expect(took ?? .seconds(9) <= .milliseconds(1500))
        report(took, "freewheel left on by a client that stops: stalled in status")
      }
      #expect(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "running" })
    }
  }
}
