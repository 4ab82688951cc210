import Acoustics
import Foundation
import LiveSupport
import Presets
import TestSupport
import Testing

@Suite("The documentation", .serialized) struct PageTests {
  @Test("the control page has the tables that the tool prints", arguments: ["verbs", "methods", "statuses"])
  func tables(name: String) throws {
    let printed = try PinnaHome().pinna("help", "--markdown", name)
    #expect(printed.status == 0)
    #expect(
      try Page("docs/control.md").section(name) == printed.output,
      "put the output of pinna help --markdown \(name) between the markers")
  }

  @Test("S9: the acoustics page has the eight stereo cases as the device gives them")
  func stereoCases() throws {
    let rows = try Page("docs/acoustics.md").rows
    let device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: "phone5")
    for name in ["Back", "Front"] {
      let source = try device.dataSource(named: name)
      for orientation in InputOrientation.allCases {
        let layout = try #require(HeadFrame(forward: source.forward, orientation: orientation)).layout
        let v = orientation.up.vector
        let up = (v.x + v.y > 0 ? "+" : "−") + (v.x == 0 ? "y" : "x")
        let row = [name, orientation.rawValue, up, layout.left.rawValue, layout.right.rawValue]
        #expect(rows.contains(row), "\(row)")
      }
    }
  }

  @Test("the README can be read in three minutes")
  func length() throws {
    let text = try Page("README.md").text
    #expect(text.components(separatedBy: "\n").count <= 250)
    #expect(text.split(whereSeparator: \.isWhitespace).count <= 2000)
  }

  @Test("the library page's check is a program that runs and finds linear8 correct")
  func guidedCheck() throws {
    let source = try String(
      contentsOfFile: repositoryFolder + "/Tests/SessionPrograms/GuidedCheck.swift", encoding: .utf8)
    let body = source.components(separatedBy: "func guidedCheck() throws {\n")[1]
      .components(separatedBy: "\n}")[0]
    let lines = body.components(separatedBy: "\n").map { String($0.dropFirst(2)) }
    let examples = try Page("docs/library.md").blocks.filter { $0.language == "swift" }
    #expect(examples.contains { $0.lines == ["import PinnaSession", ""] + lines })
    let outcome = try Program.run(
      try PinnaHome.built("session-programs"), ["guided-check"], environment: PinnaHome().environment)
    #expect(outcome.status == 0 && outcome.output.hasPrefix("Front, portrait: right\n"), "\(outcome)")
    #expect(!outcome.output.contains("wrong"), "\(outcome)")
  }

  @Test("links in the documentation lead to existing files", arguments: Page.all)
  func links(page: Page) {
    let folder = URL(filePath: repositoryFolder + "/" + page.path).deletingLastPathComponent().path
    for link in page.links { #expect(FileManager.default.fileExists(atPath: folder + "/" + link), "\(link)") }
  }

  @Test("the files that the architecture page says to change exist")
  func filesToChange() throws {
    let section = try Page("docs/architecture.md").lines(below: "## Where to change what")
    let rows = section.filter { $0.hasPrefix("| ") }
    let paths = Page.paths(in: rows)
    #expect(rows.count > 15 && paths.count > 50)
    #expect(Page.missing(paths, from: "Sources/") == [])
  }

  @Test("the files that a room's README names exist")
  func filesOfRooms() {
    #expect(Page.ofRooms.count >= 8)
    for page in Page.ofRooms {
      let paths = Page.paths(in: page.text.components(separatedBy: "\n"))
      #expect(!paths.isEmpty, "\(page)")
      #expect(Page.missing(paths, from: page.path.replacing("README.md", with: "")) == [], "\(page)")
    }
  }

  @Test("a named path is found missing where the tree lacks it, from the folder or the repository")
  func missingFiles() {
    let named = Page.paths(in: ["`Settings/Change.swift`: `Key`, `/Makefile`, `Gone.swift`, `/docs/gone/`"])
    #expect(named == ["Settings/Change.swift", "/Makefile", "Gone.swift", "/docs/gone/"])
    #expect(Page.missing(named, from: "Sources/") == ["Gone.swift", "/docs/gone/"])
  }

  @Test(
    "the documented commands print what the page shows, in its order",
    .enabled(if: LiveGraph.isPossible, "jackd2 is not installed: no JACK server"),
    arguments: Page.all.filter { !$0.commands.isEmpty })
  func commands(page: Page) throws {
    // `make` commands run these tests or the demo.
    let commands = page.commands.filter { !$0.text.hasPrefix("make ") }
    let home = try PinnaHome()
    for file in page.configurationFiles { try home.folder.write(file.text, to: "files/" + file.path) }
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
    environment["FILES"] = home.folder.path + "/files"
    environment["JACK_DEFAULT_SERVER"] = LiveGraph.uniqueName()
    environment["JACK_NO_AUDIO_RESERVATION"] = "1"
    // A UMA-8 is plugged in.
    let cards = try SoundCards.folder("uma8-raw")
    environment["PINNA_PROC_ASOUND"] = cards + "/asound"
    environment["PINNA_SYSFS"] = cards + "/sysfs"
    // A newcomer's: empty. What a design says does not depend on who ran these tests before.
    environment["XDG_CACHE_HOME"] = home.folder.path + "/cache"
    // timeout also stops everything that the script has started.
    let outcome = try Program.run(
      "/usr/bin/timeout", ["-k", "10", "55", "/bin/bash", script, work], environment: environment, seconds: 70
    )
    let statuses = try String(contentsOfFile: work + "/statuses", encoding: .utf8).split(separator: "\n")
    for (n, command) in commands.enumerated() {
      let status = n < statuses.count ? String(statuses[n]) : "none: the script did not get there"
      #expect(status == String(command.status), "$ \(command.text)\n\(outcome)")
      guard !command.output.isEmpty else { continue }
      let printed = (try? String(contentsOfFile: work + "/output-\(n)", encoding: .utf8)) ?? ""
      let lines = printed.replacing(work, with: "/home/you").split(
        separator: "\n", omittingEmptySubsequences: false
      )
      .map(String.init)
      #expect(
        DocumentedOutput.matches(command.output, lines.last == "" ? lines.dropLast() : lines),
        "\(page.path): $ \(command.text) printed\n\(printed)")
    }
  }

  @Test("in a comparison of output, numbers may differ and words may not")
  func comparison() {
    #expect(DocumentedOutput.matches(["took 3.5 s", "…", "end…"], ["took 12 s", "a", "b", "ending"]))
    #expect(DocumentedOutput.matches(["a  -3 dB"], ["a +12.0 dB"]))
    #expect(!DocumentedOutput.matches(["took 3.5 s"], ["needed 3.5 s"]))
    #expect(!DocumentedOutput.matches(["one"], ["one", "two"]))
    #expect(
      DocumentedOutput.matches(
        ["one"], ["pinna: working: 3 s so far", "pinna: working: 80 %, about 3 s left", "one"]))
    #expect(!DocumentedOutput.matches(["one"], ["pinna: failed: 3 s late", "one"]))
    #expect(!DocumentedOutput.matches(["one", "…", "three"], ["one", "two"]))
  }

  /// Runs the commands one after another in the folder `$1`. Writes their statuses into `statuses`, one per
  /// line, and the output of command N into `output-N`. Waits until a command in the background serves.
  private static func script(_ commands: [Page.Command]) -> String {
    var lines = [
      "cd \"$1\" || exit", "trap 'pinna stop; kill $(jobs -p); wait' EXIT",
      "await() { for n in $(seq 300); do \"$@\" && return; sleep 0.1; done; return 1; }",
    ]
    for (n, command) in commands.enumerated() {
      let output = "> output-\(n) 2>&1"
      if command.text.hasSuffix("&") {
        lines.append("\(command.text.dropLast()) \(output) &")
        lines.append("await \(command.text.hasPrefix("jackd") ? "jack_lsp" : "pinna status") >/dev/null 2>&1")
      } else {
        lines.append("\(command.text) \(output)")
      }
      lines.append("echo $? >> statuses")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
