import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// Takes as people record them, in one folder.
  @Suite("A folder of ten takes") struct TakeFolderTests {
    private static let options: [[String]] = [
      ["--raw"], ["--raw", "--feeds", "main"], ["--raw", "--feeds", "anna,ben"], ["--feeds", "anna"], [],
      ["--raw", "--split-size", "1"], ["--raw", "--format", "pcm24"], ["--raw", "--format", "flac"],
      ["--raw", "--format", "opus"], ["--feeds", "main", "--format", "opus"],
    ]
    private let home: PinnaHome
    private var takes: String { home.takesFolder }
    /// The names of all files.
    private let recorded: [String]

    init() throws {
      home = try PinnaHome()
      try home.addPair()
      let graph = try OfflineGraph(preset: "pair", home: home, captures: 2)
      try #require(
        try graph.pinna("feed", "add", "anna", "--pattern", "omnidirectional", "--gain", "-3").status == 0)
      try #require(
        try graph.pinna("feed", "add", "ben", "--orientation", "portrait", "--high-pass", "80").status == 0)
      try graph.playNoise()
      for words in Self.options {
        let started = try home.pinna(["record", "start"] + words)
        try #require(started.status == 0, "\(started)")
        try graph.waitForTake(frames: words.contains("--split-size") ? 168_000 : 24_000)
        let stopped = try home.pinna("record", "stop")
        try #require(stopped.status == 0, "\(stopped)")
      }
      recorded = try FileManager.default.contentsOfDirectory(atPath: home.takesFolder).sorted()
      try home.folder.write("feeds: {a: {polarPattern: omnidirectional}}\n", to: "f.yaml")
      try home.folder.write("- {at: 0.01, gain: -3}\n", to: "a.yaml")
      try home.folder.write(
        "title: t\ndevice: pair\ntalkers: [{voice: noise, direction: +z, seconds: 0.1}]\n", to: "s.yaml")
      try AudioClip(sampleRate: 48000, channels: SeededNoise.channels(2, 4000, amplitude: 0.2, seed: 1))
        .write(wav: home.folder.path + "/in.wav")
    }

    private func shell(_ words: [String]) throws -> Program.Outcome {
      try Program.run(
        "/bin/bash", ["-c", "cd \(home.folder.path) && \"$0\" \"$@\"", try PinnaHome.binary()] + words,
        environment: home.environment)
    }

    private func digests() -> [Data?] {
      recorded.map { FileManager.default.contents(atPath: "\(takes)/\($0)") }
    }

    /// Makes other names of every file, in and beside the folder.
    private func otherNames() throws -> [String] {
      let path = home.folder.path
      try FileManager.default.createDirectory(atPath: path + "/links", withIntermediateDirectories: false)
      symlink("music/pinna", path + "/folder")
      return recorded.enumerated().flatMap { n, name in
        let ending = String(name[(name.lastIndex(of: ".") ?? name.startIndex)...])
        let (hard, soft, near) = (
          "links/hard\(n)\(ending)", "links/soft\(n)\(ending)", "music/pinna/near\(n)\(ending)"
        )
        #expect(link("\(takes)/\(name)", "\(path)/\(hard)") == 0)
        #expect(symlink("\(takes)/\(name)", "\(path)/\(soft)") == 0)
        #expect(link("\(takes)/\(name)", "\(path)/\(near)") == 0)
        return ["music/pinna/\(name)", "./music/../music//pinna/\(name)", "folder/\(name)", hard, soft, near]
      }
    }

    /// Every take whose microphones were recorded, rendered into a folder: its outputs by name.
    private func rendered(into folder: String) throws -> [String: [[Float]]] {
      let outcome = try shell([
        "render", "--takes", "music/pinna", "--into", folder, "--feeds", "all", "--force",
      ])
      // Three have no microphones.
      let failures = outcome.output.split(separator: "\n").filter { $0.contains("failed") }
      #expect(
        failures.count == 3 && failures.allSatisfy { $0.contains("recorded without --raw") }, "\(outcome)")
      let folder = home.folder.path + "/" + folder
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".wav") }
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try AudioClip(path: folder + "/" + $0).channels) })
    }

    @Test(
      "R57, R58: of any command lines of writing verbs, none changes a file of a take; and without the array's file, what is rendered is what was recorded, bit for bit",
      .long)
    func commands() throws {
      let before = digests()
      let first = try rendered(into: "first")
      let targets = try otherNames()
      let stems = targets.map { $0.replacing(/\.\w+$/, with: "") }
      var random = SeededNoise(seed: 1)
      func any<Element>(_ list: [Element]) -> Element { list.randomElement(using: &random)! }
      let count = Int(Faults.number("PINNA_OVERWRITES", quick: 60, heavy: 2000))
      var refused = 0
      for _ in 0..<count {
        let (target, source) = (any(targets), any(targets + ["in.wav"]))
        let folder = any(["music/pinna", "folder", "links"])
        // With their types, or the compiler tries for ten seconds.
        let commands: [[String]] = [
          ["render", source, target], ["render", "--device", "pair", source, target],
          ["render", "--pattern", "omnidirectional", "in.wav", target],
          ["render", "--feeds", any(["f.yaml", "all", target]), "--into", folder, source],
          ["render", "--automation", any(["a.yaml", target]), source, target],
          ["render", "--takes", "music/pinna", "--into", folder, "--jobs", "1"],
          ["render", source, any(stems) + any([".flac", ".opus", ".wav"])],
          ["render", "--talkers", "--into", folder, source],
          ["talkers", source, "--to", any(["rttm", "webvtt", "csv", "json", "labels"]), target],
          ["simulate", "s.yaml", target], ["simulate", "s.yaml", any(stems) + ".flac"],
          ["device", "new", "ring", any(stems)], ["device", "check", "pair", "--picture", target],
          ["doctor", "--report", target], ["check", "--preset", "pair", "--picture", any(stems) + ".png"],
          ["export", "--device", "pair", "--to", "wav", any(["music/pinna", "folder", target])],
          ["report", "--preset", "pair", "--draws", "0", "--plots", any(["music/pinna", target])],
          ["takes", "repair", "--dir", "music/pinna"],
        ]
        let force: [String] = any([[], ["--force"], ["--force"]])
        let words = any(commands) + force
        let outcome = try shell(words)
        if outcome.status != 0 { refused += 1 }
        #expect((0...7).contains(outcome.status), "\(words): \(outcome)")
        guard digests() == before else {
          Issue.record("\(words) changed a file of a take: \(outcome)")
          break
        }
      }
      #expect(refused > count / 4)
      Faults.report(
        "R57", done: "\(count) command lines aimed at files of ten takes: replaced", measured: "0",
        limit: "0",
        kept: digests() == before)

      for name in try FileManager.default.contentsOfDirectory(atPath: takes) where !recorded.contains(name) {
        try FileManager.default.removeItem(atPath: takes + "/" + name)
      }
      try FileManager.default.removeItem(atPath: home.configFolder + "/pinna")
      let elsewhere = try rendered(into: "elsewhere")
      #expect(elsewhere == first)
      // But for what other formats round, and the first of a file of limited size, which has no room for what came before.
      let exact = try elsewhere.filter { name, channels in
        let path = takes + "/" + name
        guard access(path, F_OK) == 0 else { return false }
        return try AudioClip(path: path).channels == channels
      }
      #expect(exact.count >= 9, "\(exact.keys.sorted()) of \(elsewhere.keys.sorted())")
      Faults.report(
        "R58", done: "ten takes rendered without their array's file: files that differ", measured: "0",
        limit: "0", kept: elsewhere == first && exact.count >= 9)
    }
  }
}
