import Foundation
import TestSupport
import Testing

/// The command of a user unit, started as systemd starts it, for a Pinna of a name of its own.
public struct UserUnit {
  private let home: PinnaHome
  private let name = "unit-\(getpid())"
  private let script: String
  private let environment: [String: String]

  /// - Parameter environment: what leads it to its server.
  public init(_ unit: String, home: PinnaHome, environment: [String: String]) throws {
    self.home = home
    script = try "exec " + Self.command(of: unit)
    self.environment = home.environment.merging(environment) { $1 }.merging([
      "PINNA_OPTIONS": "--no-connect --name \(name)"
    ]) { $1 }
  }

  public func start() throws -> Program {
    try Program("/bin/sh", ["-c", script, try PinnaHome.binary()], environment: environment)
  }

  /// Nil while it does not answer.
  public func status() throws -> [String: Any]? {
    let outcome = try home.pinna("status", "--name", name, "--json")
    return outcome.status == 0 ? try outcome.json() : nil
  }

  public func runs() throws -> Bool { try status()?["server"] as? String == "running" }

  /// Expects that `program` runs within a while, and that those after it begin with the last setting, even after a crash.
  public func expectLastSetting(_ program: Program) throws {
    var program = program
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
  public static func command(of unit: String) throws -> String {
    let text = try String(contentsOfFile: repositoryFolder + "/packaging/" + unit, encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") }
    guard let line, line.contains("@PREFIX@/bin/pinna ") else {
      throw SupportError("no ExecStart in \(unit)")
    }
    return String(line.dropFirst("ExecStart=".count)).replacing("@PREFIX@/bin/pinna", with: "\"$0\"")
  }
}
