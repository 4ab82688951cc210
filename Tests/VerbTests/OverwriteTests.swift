import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// How verbs treat an existing file, link or device at their output path.
@Suite("Writing over what is there") struct OverwriteTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// A verb that writes a file, by its words before the file's name.
  struct Writer: Sendable, CustomTestStringConvertible {
    let words: [String]
    let file: String
    /// Whether the verb is given the folder of the file.
    var isInFolder = false
    var testDescription: String { words.joined(separator: " ") }
  }

  static let writers = [
    Writer(words: ["doctor", "--report"], file: "report.txt"),
    Writer(words: ["device", "check", "pair", "--picture"], file: "pair.svg"),
    Writer(words: ["check", "--preset", "pair", "--picture"], file: "check.png"),
    Writer(words: ["device", "new", "ring"], file: "r.yaml"),
    Writer(words: ["device", "new", "ring"], file: "r.svg"),
    Writer(words: ["export", "--preset", "pair", "--to", "wav"], file: "filters.json", isInFolder: true),
    Writer(
      words: ["report", "--preset", "pair", "--draws", "0", "--plots"], file: "device.svg", isInFolder: true),
    Writer(words: ["simulate", "scene.yaml"], file: "s.wav"),
    Writer(words: ["simulate", "scene.yaml"], file: "s.flac"),
    Writer(words: ["render", "--preset", "pair", "in.wav"], file: "r.wav"),
    Writer(words: ["render", "--preset", "pair", "in.wav"], file: "r.opus"),
    Writer(
      words: ["render", "--preset", "pair", "in.wav", "--feeds", "f.yaml", "--into"], file: "a.wav",
      isInFolder: true),
  ]

  /// Runs `writer` on the file `path`.
  private func write(_ writer: Writer, _ path: String, force: Bool) throws -> Program.Outcome {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    // `device new` is given the name without its extension.
    let operand = writer.isInFolder ? folder : writer.words[1] == "new" ? folder + "/r" : path
    let scene = try home.home.folder.write(
      "title: t\ndevice: pair\ntalkers: [{voice: noise, direction: +z, seconds: 0.1}]\n", to: "scene.yaml")
    let feeds = try home.home.folder.write("feeds: {a: {polarPattern: omnidirectional}}\n", to: "f.yaml")
    var noise = SeededNoise(seed: 51)
    let sound = home.path + "/in.wav"
    try AudioClip(sampleRate: 48000, channels: (0..<2).map { _ in noise.samples(9000, amplitude: 0.1) })
      .write(wav: sound)
    let files = ["scene.yaml": scene, "f.yaml": feeds, "in.wav": sound]
    return try home.pinna(writer.words.map { files[$0] ?? $0 } + [operand] + (force ? ["--force"] : []))
  }

  /// What stands at a path: its kind, inode, content or target.
  private func state(_ path: String) -> String {
    var information = stat()
    guard lstat(path, &information) == 0 else { return "nothing" }
    let kind = information.st_mode & S_IFMT
    let content =
      kind == S_IFREG ? FileManager.default.contents(atPath: path)?.base64EncodedString() ?? "" : ""
    let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
    return "\(kind) \(information.st_ino) \(information.st_rdev) \(target) \(content)"
  }

  @Test(
    "R51: links, FIFOs, sockets, folders and device nodes stay, also with --force; files stay without it",
    .long,
    arguments: writers)
  func obstacles(writer: Writer) throws {
    var replaced = 0
    var tried = 0
    let kinds = ["link", "dangling", "fifo", "folder", "file"] + (getuid() == 0 ? ["node"] : [])
    for kind in kinds {
      for force in [false, true] where kind != "file" || !force {
        let folder = "\(home.path)/\(kind)-\(force)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = "\(folder)/\(writer.file)"
        let target = try home.home.folder.write("precious", to: "\(kind)-\(force)-target")
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        case "dangling":
          try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target + "-none")
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "folder":
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "node": #expect(mknod(path, S_IFCHR | 0o600, dev_t(1 << 8 | 7)) == 0)
        default: try Data("mine".utf8).write(to: URL(filePath: path))
        }
        let before = state(path)
        let outcome = try write(writer, path, force: force)
        tried += 1
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(kind), force \(force): \(outcome)")
        if state(path) != before { replaced += 1 }
        #expect(state(path) == before, "\(kind), force \(force): \(outcome)")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
        #expect(!FileManager.default.fileExists(atPath: target + "-none"))
        // Nothing unfinished, and nothing beside it either.
        #expect(home.contents("\(kind)-\(force)") == [writer.file], "\(kind), force \(force): \(outcome)")
      }
    }
    Faults.report(
      "R51", done: "\(writer.testDescription) aimed at \(tried) things that are there: replaced",
      measured: "\(replaced)", limit: "0", kept: replaced == 0)
  }

  @Test("R51: with --force a file is replaced by a whole one", arguments: writers)
  func replacement(writer: Writer) throws {
    let folder = home.path + "/there"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = "\(folder)/\(writer.file)"
    try Data("mine".utf8).write(to: URL(filePath: path))
    let outcome = try write(writer, path, force: true)
    #expect([0, 1].contains(outcome.status) && !outcome.error.contains("exists"), "\(outcome)")
    let content = try Data(contentsOf: URL(filePath: path))
    #expect(content.count > 100 && content.prefix(4) != Data("mine".utf8))
    #expect(home.contents("there").allSatisfy { !$0.hasSuffix(".part") })
  }

  @Test("R51: a program that is killed while it writes leaves the old file or the new one")
  func killed() throws {
    var halves = 0
    let rounds = Int(Faults.number("PINNA_OVERWRITES", quick: 12, heavy: 60))
    let path = home.path + "/w.svg"
    let binary = try PinnaHome.binary()
    let whole = try home.pinna("device", "check", "phone5", "--picture", path)
    try #require(whole.status == 0, "\(whole)")
    let length = try Data(contentsOf: URL(filePath: path)).count
    for round in 0..<rounds {
      let program = try Program(
        binary, ["device", "check", "phone5", "--picture", path, "--force"],
        environment: home.home.environment)
      usleep(UInt32(5000 + 6000 * round % 90_000))
      program.signal(SIGKILL)
      _ = program.wait(seconds: 10)
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      if text.utf8.count != length || !text.hasSuffix("</svg>\n") { halves += 1 }
    }
    #expect(halves == 0)
    Faults.report(
      "R51", done: "killed \(rounds) times while it writes: files that are not whole", measured: "\(halves)",
      limit: "0", kept: halves == 0)
  }

  @Test("a preset that is a link stays one, and the file that it leads to is replaced")
  func linkedPreset() throws {
    let target = try home.home.folder.write("old", to: "dotfiles/evening.yaml")
    let folder = home.home.configFolder + "/pinna/banks"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/evening.yaml", withDestinationPath: target)
    let refused = try home.pinna("bank", "save", "evening", "pair")
    #expect(refused.status == 1 && refused.error.contains("--force"), "\(refused)")
    let outcome = try home.pinna("bank", "save", "evening", "pair", "--force")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(state(folder + "/evening.yaml").contains(target))
    #expect(try String(contentsOfFile: target, encoding: .utf8).contains("pair"))
  }

  @Test(
    "results for a full standard output end with a sentence and a status",
    arguments: [
      ["preset", "list"], ["preset", "list", "--json"], ["help"], ["--version"], ["device", "check", "pair"],
      ["bank", "list"], ["help", "--markdown", "verbs"],
    ])
  func fullOutput(words: [String]) throws {
    let outcome = try Program.run(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" >/dev/full", try PinnaHome.binary()] + words,
      environment: home.home.environment)
    #expect(
      outcome.status == 1 && outcome.error.contains("standard output is incomplete: No space left"),
      "\(outcome)")
    #expect(outcome.error.count { $0 == "\n" } == 1)
  }

  @Test("a reader that leaves early has what it wanted: no sentence, and the status of the verb")
  func closedPipe() throws {
    let outcome = try Program.run(
      "/bin/bash",
      [
        "-c", "{ sleep 0.2; \"$0\" help --markdown verbs; } | true; exit ${PIPESTATUS[0]}",
        try PinnaHome.binary(),
      ],
      environment: home.home.environment)
    #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
  }
}
