import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna doctor beside a server") struct DoctorTests {
    @Test("it names rate, period, scheduling, the running Pinna, and the files of the server as its own")
    func running() throws {
      let graph = try LiveGraph(preset: "phone5", sampleRate: 48000, period: 256)
      let report = graph.home.folder.path + "/report.txt"
      let outcome = try graph.home.pinna(["doctor", "--server", graph.server.name, "--report", report])
      let found = "answers: 48000 Hz, period 256 (5.3 ms); it runs without realtime scheduling\n"
      #expect(outcome.output.contains(found), "\(outcome)")
      #expect(
        outcome.output.contains("control sockets") && outcome.output.contains("1 running ("), "\(outcome)")
      #expect(outcome.output.contains("files of the running JACK server\n"), "\(outcome)")
      let text = try String(contentsOfFile: report, encoding: .utf8)
      #expect(text.contains("== status of pinna\n{") && text.contains("\"preset\":\"phone5\""), "\(text)")
    }

    @Test(
      "beside PipeWire, the finding on JACK's libjack names pw-jack, and PipeWire's is none",
      .enabled(if: PipeWireGraph.isPossible, "PipeWire, pipewire-jack, WirePlumber or dbus-daemon is missing")
    )
    func pipeWire() throws {
      let home = try PinnaHome()
      let graph = try PipeWireGraph(home)
      func libjack(_ environment: [String: String]) throws -> [String: Any] {
        let outcome = try Program.run(try PinnaHome.binary(), ["doctor", "--json"], environment: environment)
        let findings = try #require(try outcome.json()["findings"] as? [[String: Any]])
        return try #require(findings.first { $0["subject"] as? String == "libjack" }, "\(outcome)")
      }
      let fault = try libjack(
        home.environment.merging(["JACK_DEFAULT_SERVER": LiveGraph.uniqueName()]) { $1 })
      // A warning if another test's jackd runs.
      #expect(["fault", "warning"].contains(fault["mark"] as? String), "\(fault)")
      #expect((fault["remedy"] as? String)?.contains("pw-jack pinna run") == true, "\(fault)")
      let well = try libjack(graph.jackEnvironment)
      #expect(well["mark"] as? String == "ok", "\(well)")
      #expect((well["found"] as? String)?.hasPrefix("PipeWire's") == true, "\(well)")
    }

    @Test("a server that hangs is a fault, found within seconds")
    func frozen() throws {
      let server = try PrivateServer(name: LiveGraph.uniqueName())
      kill(server.pid, SIGSTOP)
      defer { kill(server.pid, SIGCONT) }
      let home = try PinnaHome()
      let start = ContinuousClock.now
      let outcome = try home.pinna(["doctor", "--server", server.name, "--json"])
      #expect(outcome.status == 1 && ContinuousClock.now - start < .seconds(20), "\(outcome)")
      let findings = try #require(try outcome.json()["findings"] as? [[String: Any]])
      let finding = try #require(findings.first { $0["subject"] as? String == "JACK server" })
      #expect(finding["mark"] as? String == "fault", "\(finding)")
    }
  }
}
