import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// What starts a server. The others are in VerbTests.
  @Suite("pinna bench, and the benchmarks of make bench") struct BenchTests {
    @Test("live times the callback in its own graph and judges it by p99.9, p50 and an idle client")
    func live() throws {
      let outcome = try Benchmarks.measure(
        "live", "--microphones", "2", "--taps", "64", "--period", "32", "--periods", "2000", "--json",
        seconds: 60)
      let json = try outcome.json()
      let (times, idle) = (
        try Benchmarks.ordered(json["callbackMicroseconds"]), try Benchmarks.ordered(json["idleMicroseconds"])
      )
      #expect(times == times.sorted() && times[0] > 0, "\(times)")
      #expect(idle == idle.sorted(), "\(idle)")
      let isWithin = times[3] <= 3 * times[1] + idle[3]
      #expect(json["withinLimit"] as? Bool == isWithin && outcome.status == (isWithin ? 0 : 1), "\(json)")
    }

    @Test("live runs from a folder without pinna, under any name")
    func copied() throws {
      let home = try PinnaHome()
      let copy = home.folder.path + "/measure"
      try FileManager.default.copyItem(atPath: try PinnaHome.built("pinna-benchmarks"), toPath: copy)
      let outcome = try Program.run(
        copy, ["live", "--microphones", "1", "--taps", "16", "--periods", "100"],
        environment: home.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }, seconds: 60)
      #expect(outcome.output.contains("xruns") && outcome.error.isEmpty, "\(outcome)")
    }

    @Test("an interrupted live leaves no server behind", arguments: [SIGINT, SIGTERM])
    func interrupted(number: Int32) throws {
      let home = try PinnaHome()
      let bench = try Program(
        try PinnaHome.built("pinna-benchmarks"), ["live"], environment: home.environment)
      let server = "pinna-bench-\(bench.pid)"
      // Not by a client of this process: one that opens while the server starts or ends may never return.
      try #require(waitUntil(seconds: 10) { ServerProbe.acceptsClients(server: server) })
      bench.signal(number)
      let outcome = try #require(bench.wait(seconds: 10))
      #expect(outcome.status == 1 && outcome.error.contains("interrupted"), "\(outcome)")
      #expect(!ServerProbe.acceptsClients(server: server))
    }
  }
}
