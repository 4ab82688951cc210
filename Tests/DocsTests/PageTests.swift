import Acoustics
import Foundation
import LiveSupport
import Session
import TestSupport
import Testing

@Suite("The README") struct ReadmeTests {
  let readme: Readme
  init() throws { readme = try Readme() }

  @Test("has the tables that the tool prints", arguments: ["verbs", "methods"])
  func tables(name: String) throws {
    let printed = try PinnaHome().pinna("help", "--markdown", name)
    #expect(printed.status == 0)
    #expect(
      readme.section(name) == printed.output,
      "put the output of pinna help --markdown \(name) between the markers")
  }

  @Test("S9: has the eight stereo cases as the device gives them")
  func stereoCases() throws {
    let device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: "phone5")
    for name in ["Back", "Front"] {
      let source = try device.dataSource(named: name)
      for orientation in InputOrientation.allCases {
        let layout = try #require(HeadFrame(forward: source.forward, orientation: orientation)).layout
        let v = orientation.up.vector
        let up = (v.x + v.y > 0 ? "+" : "−") + (v.x == 0 ? "y" : "x")
        let row = [name, orientation.rawValue, up, layout.left.rawValue, layout.right.rawValue]
        #expect(readme.rows.contains(row), "\(row)")
      }
    }
  }

  @Test(
    "has commands that do what it says, in its order",
    .enabled(if: LiveGraph.isPossible, "jackd2 is not installed: no JACK server"))
  func commands() throws {
    // Those are the tests themselves, and the demo.
    let commands = readme.commands.filter { !$0.text.hasPrefix("make ") && $0.text != "pinna demo" }
    #expect(commands.count > 10)
    let home = try PinnaHome()
    for file in readme.configurationFiles { try home.folder.write(file.text, to: "config/" + file.path) }
    let work = home.folder.path + "/work"
    for folder in [work, home.folder.path + "/bin"] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }
    for (link, target) in [
      ("work/Presets", repositoryFolder + "/Presets"), ("bin/pinna", try PinnaHome.binary()),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: home.folder.path + "/" + link, withDestinationPath: target)
    }
    let script = try home.folder.write(Self.script(commands), to: "commands.sh")
    var environment = home.environment
    environment["PATH"] = home.folder.path + "/bin:" + (environment["PATH"] ?? "/usr/bin:/bin")
    environment["JACK_DEFAULT_SERVER"] = LiveGraph.uniqueName()
    environment["JACK_NO_AUDIO_RESERVATION"] = "1"
    // timeout stops everything that the script started, too.
    let outcome = try Program.run(
      "/usr/bin/timeout", ["-k", "10", "55", "/bin/bash", script, work], environment: environment, seconds: 70
    )
    let statuses = try String(contentsOfFile: work + "/statuses", encoding: .utf8).split(separator: "\n")
    for (n, command) in commands.enumerated() {
      let status = n < statuses.count ? String(statuses[n]) : "none: the script did not get there"
      #expect(status == String(command.status), "$ \(command.text)\n\(outcome)")
    }
  }

  /// Runs the commands one after another in the folder `$1` and writes the status of each into `statuses`. A
  /// command in the background is waited for until it serves.
  private static func script(_ commands: [Readme.Command]) -> String {
    var lines = [
      "cd \"$1\" || exit", "trap 'pinna stop; kill $(jobs -p); wait' EXIT",
      "await() { for n in $(seq 300); do \"$@\" && return; sleep 0.1; done; return 1; }",
    ]
    for command in commands {
      lines.append("echo '$ \(command.text.replacing("'", with: "'\\''"))'")
      lines.append(command.text)
      if command.text.hasSuffix("&") {
        lines.append("await \(command.text.hasPrefix("jackd") ? "jack_lsp" : "pinna status") >/dev/null 2>&1")
      }
      lines.append("echo $? >> statuses")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
