import Foundation
import LiveSupport
import Presets
import TestSupport
import Testing

/// `make install` with the program that was built with the tests.
@Suite("Installing") struct InstallTests {
  /// A folder of its own, for the prefix, the program and its environment.
  private let folder: TemporaryFolder
  private var prefix: String { folder.path + "/prefix" }

  init() throws { folder = try TemporaryFolder() }

  /// Runs `make` in the repository. It uses no variables of a `make` that runs these tests.
  private func make(_ words: String...) throws {
    let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MAKE") }
    let outcome = try Program.run(
      "/usr/bin/make",
      ["--no-print-directory", "-C", repositoryFolder, "BINARY=\(try PinnaHome.binary())"] + words,
      environment: inherited.filter { $0.key != "MFLAGS" })
    try #require(outcome.status == 0, "\(outcome)")
  }

  @Test("without BINARY, make install builds the program first, if its sources are newer")
  func builds() throws {
    let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MAKE") }
    let outcome = try Program.run(
      "/usr/bin/make", ["-C", repositoryFolder, "-n", "-W", "Package.swift", "install", "PREFIX=\(prefix)"],
      environment: inherited.filter { $0.key != "MFLAGS" })
    let lines = outcome.output.components(separatedBy: "\n")
    let build = lines.firstIndex { $0.contains("swift build") && $0.contains("--static-swift-stdlib") }
    let install = lines.firstIndex { $0.hasPrefix("install -D") && $0.contains("/bin/pinna") }
    #expect(try #require(build) < #require(install), "\(outcome)")
  }

  /// Runs a program in the root folder, in an environment that knows no presets.
  private func run(_ path: String, _ words: [String], _ more: [String: String] = [:]) throws
    -> Program.Outcome
  {
    let environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_DATA_DIRS": folder.path + "/data"]
    return try Program.run(
      "/bin/sh", ["-c", "cd / && exec \"$0\" \"$@\"", path] + words,
      environment: environment.merging(more) { $1 })
  }

  /// Paths of all files below `path`, relative to it.
  private func files(_ path: String) -> [String] {
    (FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []).filter {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: path + "/" + $0, isDirectory: &isFolder)
        && !isFolder.boolValue
    }.sorted()
  }

  @Test(
    "make install puts everything where Debian looks for it, and uninstall leaves only what is somebody else's"
  )
  func layout() throws {
    try make("install", "PREFIX=\(prefix)")
    let installed = files(prefix)
    let presets = files(repositoryFolder + "/Presets").map { "share/pinna/presets/" + $0 }
    let pages = files(repositoryFolder + "/docs").map { "share/doc/pinna/docs/" + $0 }
    #expect(presets.count > 100 && pages.count > 10)
    #expect(
      Set(installed).symmetricDifference(presets + pages).sorted() == [
        "bin/pinna", "lib/pinna/pinna-lv2.so", "lib/systemd/user/pinna-pipewire.service",
        "lib/systemd/user/pinna.service",
        "share/applications/org.pinna_audio.pinna.desktop", "share/bash-completion/completions/pinna",
        "share/doc/pinna/CHANGELOG.md", "share/doc/pinna/LICENSE",
        "share/doc/pinna/README.md", "share/fish/vendor_completions.d/pinna.fish",
        "share/icons/hicolor/scalable/apps/org.pinna_audio.pinna.svg", "share/man/man1/pinna.1",
        "share/metainfo/org.pinna_audio.pinna.metainfo.xml",
        "share/pinna/control-surfaces/pinna-open-stage-control.json", "share/zsh/site-functions/_pinna",
      ])
    let page = try String(contentsOfFile: prefix + "/share/man/man1/pinna.1", encoding: .utf8)
    #expect(page.hasPrefix(".TH PINNA 1"))

    try folder.write("title: Mine\n", to: "prefix/share/pinna/mine.yaml")
    // A preset of an earlier version.
    try folder.write("", to: "prefix/share/pinna/presets/old.yaml")
    try make("install", "PREFIX=\(prefix)")
    #expect(files(prefix) == (installed + ["share/pinna/mine.yaml"]).sorted())
    try make("uninstall", "PREFIX=\(prefix)")
    #expect(files(prefix) == ["share/pinna/mine.yaml"])
  }

  @Test("an installed program finds its presets and filters beside itself, wherever DESTDIR put them")
  func relocated() throws {
    try make("install", "PREFIX=/opt/pinna", "DESTDIR=\(folder.path)/image")
    let program = folder.path + "/image/opt/pinna/bin/pinna"
    let listed = try run(program, ["preset", "list", "--json"])
    let presets = try #require(try listed.json()["presets"] as? [[String: Any]])
    let shipped = PresetLibrary(folders: [repositoryFolder + "/Presets"]).presetNames()
    #expect(presets.compactMap { $0["name"] as? String } == shipped && listed.error.isEmpty, "\(listed)")
    #expect(presets.allSatisfy { $0["unusable"] is NSNull })
    // Filters that were not found would be designed, and kept in the cache.
    let check = try run(program, ["check", "--preset", "linear8", "--json"])
    #expect(check.status == 0, "\(check)")
    #expect(files(folder.path + "/.cache") == [])
    let unit = try String(
      contentsOfFile: folder.path + "/image/opt/pinna/lib/systemd/user/pinna.service", encoding: .utf8)
    #expect(unit.contains("\nExecStart=/opt/pinna/bin/pinna run --resume "))
  }

  @Test("a program that was copied without its presets says so, and where it looked")
  func copied() throws {
    let program = folder.path + "/alone/pinna"
    try FileManager.default.createDirectory(
      atPath: folder.path + "/alone", withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: PinnaHome.binary(), toPath: program)
    let looked =
      "no shipped presets were found: looked for \(folder.path)/share/pinna/presets, a folder Presets above "
      + "\(folder.path)/alone, a folder Presets above /, \(folder.path)/data/pinna/presets; install Pinna with its "
      + "presets (make install), or set PINNA_PRESETS to their folder"
    let list = try run(program, ["preset", "list"])
    #expect(list.status == 0 && list.isOneSentence && list.error == "pinna: \(looked)\n", "\(list)")
    let start = try run(program, ["run"])
    #expect(start.status == 1 && start.isOneSentence, "\(start)")
    #expect(start.error == "pinna: there is no preset \"phone5\"; \(looked)\n", "\(start)")
    let named = try run(program, ["run"], ["PINNA_PRESETS": "/nowhere"])
    #expect(
      named.error.contains("looked for /nowhere, which PINNA_PRESETS names;"), "\(named)")
  }

  @Test("a relative PREFIX is refused, because units need absolute paths")
  func relativePrefix() throws {
    let outcome = try Program.run(
      "/usr/bin/make",
      [
        "--no-print-directory", "-C", repositoryFolder, "install", "BINARY=\(try PinnaHome.binary())",
        "PREFIX=usr", "DESTDIR=\(folder.path)/",
      ])
    #expect(outcome.status != 0 && outcome.error.contains("PREFIX=usr is not an absolute path"), "\(outcome)")
    #expect(files(folder.path) == [])
  }

  private static func isExecutable(_ program: String) -> Bool { access("/usr/bin/" + program, X_OK) == 0 }

  @Test(
    "systemd finds no fault in the unit for JACK, and finds its manual page",
    .enabled(if: isExecutable("systemd-analyze"), "systemd is not installed"))
  func unit() throws { try verify("pinna.service") }

  @Test(
    "systemd finds no fault in the unit for PipeWire",
    .enabled(
      if: isExecutable("systemd-analyze") && isExecutable("pw-jack"), "systemd or pw-jack is not installed"))
  func pipeWireUnit() throws { try verify("pinna-pipewire.service") }

  private func verify(_ unit: String) throws {
    try make("install", "PREFIX=\(prefix)")
    let verify = try run(
      "/usr/bin/systemd-analyze", ["verify", "--user", "\(prefix)/lib/systemd/user/\(unit)"],
      ["XDG_RUNTIME_DIR": folder.path, "MANPATH": prefix + "/share/man"])
    #expect(verify.status == 0 && verify.output.isEmpty && verify.error.isEmpty, "\(verify)")
  }

  private static let app = "org.pinna_audio.pinna"

  @Test(
    "desktop-file-validate finds no fault in the desktop entry, which starts the program that was installed",
    .enabled(if: isExecutable("desktop-file-validate"), "desktop-file-utils is not installed"))
  func entry() throws {
    try make("install", "PREFIX=\(prefix)")
    let path = "\(prefix)/share/applications/\(Self.app).desktop"
    let validation = try run("/usr/bin/desktop-file-validate", ["--warn-kde", path])
    #expect(validation.status == 0 && validation.output.isEmpty && validation.error.isEmpty, "\(validation)")
    let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
    let words = try #require(lines.first { $0.hasPrefix("Exec=") }).dropFirst(5).split(separator: " ")
    #expect(words.first.map(String.init) == prefix + "/bin/pinna")
    #expect(try run(String(words[0]), words.dropFirst().map(String.init) + ["--help"]).status == 0)
    #expect(lines.contains("Icon=\(Self.app)"))
  }

  @Test(
    "appstreamcli finds nothing to say about the metadata, not even pedantically",
    .enabled(if: isExecutable("appstreamcli"), "appstream is not installed"))
  func metadata() throws {
    try make("install", "PREFIX=\(prefix)")
    let path = "\(prefix)/share/metainfo/\(Self.app).metainfo.xml"
    let validation = try run(
      "/usr/bin/appstreamcli", ["validate", "--pedantic", "--no-net", "--no-color", path])
    let said = validation.output.split(separator: "\n").filter { !$0.contains("Validation was successful.") }
    #expect(validation.status == 0 && said.isEmpty && validation.error.isEmpty, "\(validation)")
  }

  @Test("the metadata's releases are those of the changelog, and the newest is the program's version")
  func releases() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOfFile: repositoryFolder + "/" + path, encoding: .utf8)
    }
    let changelog = try text("CHANGELOG.md").matches(of: /## \[([0-9.]+)\] - ([0-9-]+)/)
    let metadata = try text("packaging/\(Self.app).metainfo.xml").matches(
      of: /<release version="([0-9.]+)" date="([0-9-]+)"\/>/)
    #expect(
      metadata.map { "\($0.output.1) \($0.output.2)" } == changelog.map { "\($0.output.1) \($0.output.2)" })
    let version = try Program.run(try PinnaHome.binary(), ["--version"]).output
    #expect(metadata.first.map { "pinna \($0.output.1)\n" } == version)
  }

  @Test(
    "zsh completes with the installed file, from its first call on",
    .enabled(if: isExecutable("zsh"), "zsh is not installed"))
  func zsh() throws {
    try make("install", "PREFIX=\(prefix)")
    let script = """
      fpath=(\(prefix)/share/zsh/site-functions $fpath)
      autoload -U compinit; compinit -u -D; echo $_comps[pinna]
      compadd() { echo "$@" }
      words=(\(prefix)/bin/pinna set --pattern card); CURRENT=4; _pinna
      """
    let outcome = try run("/usr/bin/zsh", ["-fc", script])
    #expect(outcome.output == "_pinna\n-- cardioid\n", "\(outcome)")
  }

  @Test("the Debian changelog begins with the version of the program")
  func version() throws {
    let changelog = try String(
      contentsOfFile: repositoryFolder + "/packaging/debian/changelog", encoding: .utf8)
    let version = try Program.run(try PinnaHome.binary(), ["--version"]).output.dropFirst("pinna ".count)
    #expect(changelog.hasPrefix("pinna (\(version.dropLast())-"), "\(version)")
  }
}
