import CJack
import Foundation
import JackClient
import JackTools
import LiveSupport
import Realtime
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  /// The JACK client alone, in this process: the layer below the control thread.
  @Suite("The array client") struct ArrayClientTests {
    func engine(microphones: Int) -> Engine {
      let engine = Engine(microphones: microphones, taps: 64, sampleRate: 48_000)
      engine.start(
        with: FilterSet(
          coefficients: [[[Float]]](
            repeating: [[Float]](
              repeating: [Float](repeating: 0.01, count: 64), count: microphones), count: 2)))
      return engine
    }

    @Test("R36: callbacks are counted, the count stops with the graph, and reading it never waits")
    func watchdog() throws {
      let server = try PrivateServer(name: LiveGraph.uniqueName(), period: 256)
      let client = try ArrayClient(name: "watched", server: server.name, onLoss: { _ in })
      defer { client.close() }
      client.adopt(
        try client.prepare(engine(microphones: 2), microphones: ["a", "b"], delayFrames: 0))
      #expect(client.periodsRun == 0)
      try client.activate()
      #expect(waitUntil(seconds: 5) { client.periodsRun > 20 })
      kill(server.pid, SIGSTOP)
      // One more period at most is under way, and nothing reports when it has ended: the count stands still.
      var stalled = -1
      let standsStill = waitUntil(seconds: 10, every: 200) {
        let before = stalled
        stalled = client.periodsRun
        return stalled == before
      }
      #expect(standsStill)
      let look = ContinuousClock().measure {
        for _ in 0..<100 {
          _ = (client.period, client.sampleRate, client.xruns, client.dspLoad, client.isServerGone)
        }
      }
      // Time for sixty more periods, if the server ran.
      let runsOn = waitUntil(seconds: 0.3) { client.periodsRun != stalled }
      #expect(!runsOn && !client.isServerGone && look < .milliseconds(50), "\(look)")
      kill(server.pid, SIGCONT)
      #expect(waitUntil(seconds: 5) { client.periodsRun > stalled + 20 })
      let conductor = try JackConnection(name: "conductor", server: server.name)
      #expect(
        !client.isFreewheeling && conductor.setFreewheel(true)
          && waitUntil(seconds: 5) { client.isFreewheeling })
      #expect(conductor.setFreewheel(false) && waitUntil(seconds: 5) { !client.isFreewheeling })
      conductor.close()
    }

    @Test("a device that returns at once waits until the callback has released its old ports")
    func returnsAtOnce() throws {
      let server = try PrivateServer(name: LiveGraph.uniqueName(), period: 4096)
      let client = try ArrayClient(name: "returning", server: server.name, onLoss: { _ in })
      defer { client.close() }
      func adopt(_ names: [String]) throws {
        client.adopt(
          try client.prepare(
            engine(microphones: names.count), microphones: names, delayFrames: 0))
      }
      try adopt(["a", "shared"])
      try client.activate()
      #expect(waitUntil(seconds: 5) { client.periodsRun > 2 })
      for names in [["b", "shared"], ["a", "shared"], ["b", "c"], ["a"]] { try adopt(names) }
      #expect(client.microphones == ["a"])
      let looker = try JackConnection(name: "looker", server: server.name)
      defer { looker.close() }
      let left: Set = ["returning:a", "returning:out_left", "returning:out_right"]
      #expect(
        waitUntil(seconds: 5) {
          client.releaseRetired()
          return Set(looker.ports(matching: "returning:", flags: JackPortFlags(0))) == left
        })
    }

    @Test("discarding an engine unregisters its ports, but not those that the callback uses")
    func discard() throws {
      let server = try PrivateServer(name: LiveGraph.uniqueName())
      let client = try ArrayClient(name: "discarding", server: server.name, onLoss: { _ in })
      defer { client.close() }
      let adopted = try client.prepare(engine(microphones: 1), microphones: ["a"], delayFrames: 0)
      client.adopt(adopted)
      try client.activate()
      let other = try client.prepare(engine(microphones: 1), microphones: ["b"], delayFrames: 0)
      let looker = try JackConnection(name: "looker", server: server.name)
      defer { looker.close() }
      func ports() -> Set<String> {
        Set(looker.ports(matching: "discarding:", flags: JackPortFlags(0)))
      }
      let outputs: Set = ["discarding:out_left", "discarding:out_right"]
      #expect(waitUntil(seconds: 5) { ports() == outputs.union(["discarding:a", "discarding:b"]) })
      client.discard(adopted)
      client.discard(other)
      #expect(waitUntil(seconds: 5) { ports() == outputs.union(["discarding:a"]) })
      let periods = client.periodsRun
      #expect(waitUntil(seconds: 5) { client.periodsRun > periods + 20 })
    }

    @Test("a close that times out is reported on every call and completes when the server answers again")
    func closeTwice() throws {
      let server = try PrivateServer(name: LiveGraph.uniqueName())
      let connection = try JackConnection(name: "twice", server: server.name)
      try connection.activate()
      kill(server.pid, SIGSTOP)
      let took = ContinuousClock().measure { #expect(!connection.close()) }
      let again = ContinuousClock().measure { #expect(!connection.close()) }
      #expect(took < .seconds(3) && again < .milliseconds(100), "\(took), \(again)")
      #expect(JackConnection.unfinishedCloses == 1)
      kill(server.pid, SIGCONT)
      #expect(waitUntil(seconds: 5) { JackConnection.unfinishedCloses == 0 })
      #expect(!connection.close())
      let other = try JackConnection(name: "other", server: server.name)
      #expect(other.close() && other.close())
    }

    @Test(
      "R42: jackd killed at any time during a change of device: the change completes or the old device stays")
    func killedDuringInstall() throws {
      let name = LiveGraph.uniqueName()
      var (done, gone) = (0, 0)
      var longest = Duration.zero
      for delay in stride(
        from: 0, through: Faults.areHeavy ? 50_000 : 12_000, by: Faults.areHeavy ? 1000 : 2000)
      {
        let server = try PrivateServer(name: name)
        let serverHasGone = Atomic<Bool>(false)
        let client = try ArrayClient(
          name: "swapped", server: name, onLoss: { _ in serverHasGone.store(true, ordering: .releasing) })
        let first = engine(microphones: 2)
        client.adopt(
          try client.prepare(first, microphones: ["a", "b"], delayFrames: 0))
        try client.activate()
        try #require(waitUntil(seconds: 5) { first.statistics.frames > 0 })
        let threads = Threads()
        let pid = server.pid
        threads.start { kill(pid, afterMicroseconds: delay) }
        let began = ContinuousClock.now
        do throws(JackError) {
          client.adopt(
            try client.prepare(
              engine(microphones: 12), microphones: (0..<12).map { "m\($0)" }, delayFrames: 0))
          client.releaseRetired()
          done += 1
        } catch {
          #expect(error == .serverGone)
          gone += 1
        }
        longest = max(longest, .now - began)
        threads.wait()
        #expect(waitUntil(seconds: 2) { serverHasGone.load(ordering: .acquiring) && client.isServerGone })
        #expect(client.close())
        server.stop()
      }
      // Frees the slot among JACK's servers that a killed server keeps.
      try Program("/usr/bin/jackd", ["-n", name, "-r", "-p", "128", "-d", "dummy"]).stop()
      #expect(longest < .seconds(2), "\(longest)")
      Faults.report(
        "R42",
        done:
          "jackd killed at every millisecond of an exchange: done \(done), gone with the old device in force \(gone)",
        measured: "\(done + gone) of \(done + gone)", limit: "all", kept: longest < .seconds(2),
        isWhole: Faults.areHeavy)
    }
  }
}
