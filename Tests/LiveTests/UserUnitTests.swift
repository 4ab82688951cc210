import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// The commands of the user units, started as systemd starts them.
  @Suite("The user units") struct UserUnitTests {
    @Test(
      "a Pinna that the unit for JACK starts waits for a server, and begins with the last setting, even after a crash"
    )
    func jack() throws {
      let name = LiveGraph.uniqueName()
      try beginsWithLastSetting("pinna.service", ["JACK_DEFAULT_SERVER": name]) {
        try PrivateServer(name: name)
      }
    }

    @Test(
      "a Pinna that the unit for PipeWire starts begins with the last setting, even after a crash",
      .enabled(if: PrivatePipeWire.isInstalled, "PipeWire is not installed"))
    func pipeWire() throws {
      let server = try PrivatePipeWire()
      try beginsWithLastSetting("pinna-pipewire.service", ["PIPEWIRE_REMOTE": server.name]) { server }
    }

    /// - Parameters:
    ///   - more: additions to the environment.
    ///   - startServer: called when Pinna already runs, as at login.
    private func beginsWithLastSetting(
      _ unit: String, _ more: [String: String], startServer: () throws -> any TestServer
    ) throws {
      let home = try PinnaHome()
      let name = "unit-\(getpid())"
      let environment = home.environment.merging(more) { $1 }.merging([
        "PINNA_OPTIONS": "--no-connect --name \(name)"
      ]) { $1 }
      let script = try "exec " + Self.command(of: unit)
      func start() throws -> Program {
        try Program("/bin/sh", ["-c", script, try PinnaHome.binary()], environment: environment)
      }
      func status() throws -> [String: Any]? {
        let outcome = try home.pinna("status", "--name", name, "--json")
        return outcome.status == 0 ? try outcome.json() : nil
      }
      func runs() throws -> Bool { try status()?["server"] as? String == "running" }

      var program = try start()
      usleep(300_000)
      #expect(program.isRunning, "\(program.errorText)")
      let server = try startServer()
      defer { server.stop() }
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

    /// As a shell script whose `$0` is the program. Systemd, too, takes `$PINNA_OPTIONS` for several words.
    private static func command(of unit: String) throws -> String {
      let text = try String(contentsOfFile: repositoryFolder + "/packaging/" + unit, encoding: .utf8)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
      try #require(line.contains("@PREFIX@/bin/pinna "))
      return String(line.dropFirst("ExecStart=".count)).replacing("@PREFIX@/bin/pinna", with: "\"$0\"")
    }
  }
}
