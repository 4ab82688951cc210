import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna doctor") struct DoctorVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  private func doctor(_ words: String..., environment: [String: String] = [:]) throws -> Program.Outcome {
    try Program.run(
      try PinnaHome.binary(), ["doctor"] + words,
      environment: home.home.environment.merging(["JACK_DEFAULT_SERVER": LiveGraph.uniqueName()]) { $1 }
        .merging(environment) { $1 })
  }

  @Test("without a server it says so; every line has a mark, and the status is 1 only for faults")
  func text() throws {
    let outcome = try doctor()
    let lines = outcome.output.split(separator: "\n")
    #expect(
      lines.contains { $0.hasPrefix("warning  JACK server") && $0.contains("none answers") }, "\(outcome)"
    )
    let starts = ["ok       ", "warning  ", "fault    ", "         why: ", "         fix: "]
    #expect(lines.dropLast().allSatisfy { line in starts.contains { line.hasPrefix($0) } }, "\(outcome)")
    #expect(!outcome.output.contains("\u{1b}") && outcome.error.isEmpty)
    let faults = lines.count { $0.hasPrefix("fault") }
    let warnings = lines.count { $0.hasPrefix("warning") }
    #expect(
      lines.last
        == "\(faults) fault\(faults == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")")
    #expect(outcome.status == (faults == 0 ? 0 : 1))
  }

  @Test("a takes folder that cannot be written and a socket folder open to others are faults, with status 1")
  func faults() throws {
    let sockets = home.home.runtimeFolder + "/pinna"
    try FileManager.default.createDirectory(
      atPath: sockets, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    let outcome = try doctor("--json", "--dir", "/proc")
    #expect(outcome.status == 1)
    let json = try outcome.json()
    #expect(Set(json.keys) == ["findings", "faults", "warnings"])
    let findings = try #require(json["findings"] as? [[String: Any]])
    for subject in ["control sockets", "disk for takes"] {
      let finding = try #require(findings.first { $0["subject"] as? String == subject }, "\(outcome)")
      #expect(finding["mark"] as? String == "fault" && finding["remedy"] is String, "\(finding)")
    }
    #expect(json["faults"] as? Int == findings.count { $0["mark"] as? String == "fault" })
  }

  @Test("the report has the lines and the system, and neither tokens nor other variables nor the home folder")
  func report() throws {
    let path = home.path + "/report.txt"
    let cards = DetectVerbTests.environment("uma8-raw").filter { $0.key.hasPrefix("PINNA_") }
    let outcome = try doctor(
      "--report", path,
      environment: cards.merging([
        "HOME": home.path, "JACK_TEST": "\(home.path)/jack", "XDG_ACTIVATION_TOKEN": "secret-1",
        "API_KEY": "secret-2",
      ]) { $1 })
    #expect(outcome.output.contains(path), "\(outcome)")
    let report = try String(contentsOfFile: path, encoding: .utf8)
    for part in [
      "== findings\n", "== kernel\nLinux", "== libjack\n", "== processor\n", "uma8: miniDSP UMA-8",
    ] {
      #expect(report.contains(part), "\(part) is not in \(report)")
    }
    #expect(report.contains("JACK_TEST=~/jack"))
    #expect(!report.contains("secret") && !report.contains(home.path), "\(report)")
    let refused = try doctor("--report", "/proc/report")
    #expect(refused.status == 1 && refused.isOneSentence, "\(refused)")
  }
}
