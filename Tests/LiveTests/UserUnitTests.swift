import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// The commands of the user units, started as systemd starts them. That for JACK is in OfflineTests.
  @Suite("The user units") struct UserUnitTests {
    @Test(
      "a Pinna that the unit for PipeWire starts begins with the last setting, even after a crash",
      .enabled(if: PrivatePipeWire.isInstalled, "PipeWire is not installed"))
    func pipeWire() throws {
      let server = try PrivatePipeWire()
      defer { server.stop() }
      let home = try PinnaHome()
      let name = "unit-\(getpid())"
      let environment = home.environment.merging(["PIPEWIRE_REMOTE": server.name]) { $1 }.merging([
        "PINNA_OPTIONS": "--no-connect --name \(name)"
      ]) { $1 }
      let script = try "exec " + UserUnit.command(of: "pinna-pipewire.service")
      func start() throws -> Program {
        try Program("/bin/sh", ["-c", script, try PinnaHome.binary()], environment: environment)
      }
      func status() throws -> [String: Any]? {
        let outcome = try home.pinna("status", "--name", name, "--json")
        return outcome.status == 0 ? try outcome.json() : nil
      }
      func runs() throws -> Bool { try status()?["server"] as? String == "running" }

      var program = try start()
      try #require(try waitUntil(seconds: 30) { try runs() }, "\(program.errorText)")
      #expect(try status()?["polarPattern"] as? String == "stereo")
      let file = home.folder.path + "/state/pinna/\(name).json"
      for (pattern, end) in [("cardioid", SIGTERM), ("omnidirectional", SIGKILL)] {
        #expect(
          try home.pinna("set", "--name", name, "--data-source", "front", "--pattern", pattern).status == 0)
        try #require(
          waitUntil(seconds: 5) {
            (try? String(contentsOfFile: file, encoding: .utf8).contains(pattern)) ?? false
          })
        program.signal(end)
        let outcome = try #require(program.wait(seconds: 20))
        #expect(outcome.status == (end == SIGTERM ? 0 : -SIGKILL), "\(outcome)")
        program = try start()
        try #require(try waitUntil(seconds: 30) { try runs() }, "\(program.errorText)")
        #expect(try status()?["polarPattern"] as? String == pattern)
      }
      program.stop()
    }
  }
}
