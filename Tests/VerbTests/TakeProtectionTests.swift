import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// Recordings stay, whatever a verb is told to write.
@Suite("Files of takes are never replaced") struct TakeProtectionTests {
  let home: VerbHome
  /// The names of all files of takes, in `takes`.
  let recorded: [String]

  init() throws {
    home = try VerbHome()
    var noise = SeededNoise(seed: 56)
    let sound = (0..<2).map { _ in noise.samples(4000, amplitude: 0.2) }
    for (stem, lengths) in [("one", [4000]), ("split", [1000, 3000]), ("two words", [4000])] {
      try home.writeTake("takes/" + stem, sound, lengths)
      for n in lengths.indices {
        try home.home.folder.write("outputs of \(stem)", to: "takes/\(stem)\(n == 0 ? "" : "_2").wav")
      }
    }
    // Renamed as a whole: the sidecar lists other names.
    for ending in [".wav", "-microphones.wav", ".json"] {
      let folder = home.path + "/takes/"
      #expect(rename(folder + "two words" + ending, folder + "May 1st" + ending) == 0)
    }
    // Cut off by a crash.
    try home.writeTake("takes/cut", sound, [4000])
    for name in ["cut-microphones.wav", "cut.json"] {
      let path = home.path + "/takes/" + name
      #expect(rename(path, path + ".part") == 0)
    }
    try AudioClip(sampleRate: 48000, channels: sound).write(wav: home.path + "/in.wav")
    try home.home.folder.write("feeds: {a: {polarPattern: omnidirectional}}\n", to: "f.yaml")
    try home.home.folder.write("- {at: 0.01, gain: -3}\n", to: "a.yaml")
    try home.home.folder.write(
      "title: t\ndevice: pair\ntalkers: [{voice: noise, direction: +z, seconds: 0.1}]\n", to: "s.yaml")
    recorded = home.contents("takes")
  }

  private func digests() -> [Data?] {
    recorded.map { FileManager.default.contents(atPath: "\(home.path)/takes/\($0)") }
  }

  /// Makes other names of every file, in and beside the folder.
  private func otherNames() throws -> [String] {
    try FileManager.default.createDirectory(
      atPath: home.path + "/links", withIntermediateDirectories: false)
    symlink("takes", home.path + "/folder")
    return recorded.enumerated().flatMap { n, name in
      let path = "\(home.path)/takes/\(name)"
      let ending = String(name[(name.lastIndex(of: ".") ?? name.startIndex)...])
      let (hard, soft, near) = (
        "links/hard\(n)\(ending)", "links/soft\(n)\(ending)", "takes/near\(n)\(ending)"
      )
      #expect(link(path, "\(home.path)/\(hard)") == 0 && symlink(path, "\(home.path)/\(soft)") == 0)
      #expect(link(path, "\(home.path)/\(near)") == 0)
      return ["takes/\(name)", "./takes/../takes//\(name)", "folder/\(name)", hard, soft, near]
    }
  }

  @Test(
    "of any command lines of writing verbs, none changes a file of a take, also by its other names", .long)
  func randomCommands() throws {
    let before = digests()
    let targets = try otherNames()
    let stems = targets.map { $0.replacing(/\.(wav|json|part)$/, with: "") }
    var random = SeededNoise(seed: 1)
    func any<Element>(_ list: [Element]) -> Element { list.randomElement(using: &random)! }
    let count = Int(Faults.number("PINNA_OVERWRITES", quick: 60, heavy: 2000))
    var refused = 0
    for _ in 0..<count {
      let (target, source) = (any(targets), any(targets + ["in.wav"]))
      // With their types, or the compiler tries for ten seconds.
      let commands: [[String]] = [
        ["render", source, target], ["render", "--device", "pair", source, target],
        ["render", "--pattern", "omnidirectional", "in.wav", target],
        [
          "render", "--feeds", any(["f.yaml", target]), "--into", any(["takes", "folder", "links"]), source,
        ],
        ["render", "--automation", any(["a.yaml", target]), source, target],
        ["render", "--takes", "takes", "--into", any(["takes", "folder", "out"]), "--jobs", "1"],
        ["render", source, any(stems) + any([".flac", ".opus", ".wav"])],
        ["simulate", "s.yaml", target], ["simulate", "s.yaml", any(stems) + ".flac"],
        ["device", "new", "ring", any(stems)], ["device", "check", "pair", "--picture", target],
        ["doctor", "--report", target], ["check", "--preset", "pair", "--picture", any(stems) + ".png"],
        ["export", "--device", "pair", "--to", "wav", any(["takes", "folder", target])],
        ["report", "--preset", "pair", "--draws", "0", "--plots", any(["takes", target])],
        ["takes", "list", "--dir", "takes"],
      ]
      let force: [String] = any([[], ["--force"], ["--force"]])
      let words = any(commands) + force
      let outcome = try home.shell("$PINNA " + words.map { "'\($0)'" }.joined(separator: " "))
      if outcome.status != 0 { refused += 1 }
      #expect((0...7).contains(outcome.status), "\(words): \(outcome)")
      guard digests() == before else {
        Issue.record("\(words) changed a file of a take: \(outcome)")
        break
      }
    }
    #expect(refused > count / 4)
    Faults.report(
      "R51", done: "\(count) command lines aimed at files of takes: replaced", measured: "0", limit: "0",
      kept: digests() == before)
  }

  @Test("a take's file is refused with its take's name, another file without --force alone")
  func sentences() throws {
    for target in ["takes/one.wav", "takes/one-microphones.wav", "takes/May 1st.wav"] {
      for words in [[], ["--force"]] {
        let outcome = try home.shell(
          "$PINNA render --preset pair in.wav '\(target)' \(words.joined(separator: " "))")
        #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
        #expect(outcome.error.contains("take") && outcome.error.contains("give another name"), "\(outcome)")
      }
    }
    let part = try home.shell("$PINNA render --force --preset pair in.wav takes/cut-microphones.wav")
    #expect(part.status == 1 && part.error.contains("pinna takes repair"), "\(part)")
    try home.home.folder.write("mine", to: "mine.wav")
    let mine = try home.shell("$PINNA render --preset pair in.wav mine.wav")
    #expect(mine.status == 1 && mine.error.contains("--force"), "\(mine)")
    #expect(try home.shell("$PINNA render --force --preset pair in.wav mine.wav").status == 0)
    // Beside a take, and of no take.
    let beside = "$PINNA render --force takes/one-microphones.wav takes/one-wide.wav"
    #expect(try home.shell("\(beside) && \(beside)").status == 0)
  }

  @Test("what a verb reads it does not write, under any name")
  func inputs() throws {
    symlink("in.wav", home.path + "/soft.wav")
    #expect(link(home.path + "/in.wav", home.path + "/hard.wav") == 0)
    let device = home.path + "/ring.yaml"
    #expect(try home.pinna("device", "new", "line", device, "--microphones", "2").status == 0)
    let files = ["in.wav", "f.yaml", "a.yaml", "ring.yaml"]
    let before = files.map { FileManager.default.contents(atPath: home.path + "/" + $0) }
    for line in [
      "render --force --preset pair in.wav in.wav", "render --force --preset pair in.wav hard.wav",
      "render --force --preset pair in.wav soft.wav", "render --force --preset pair - hard.wav <in.wav",
      "render --force --preset pair --automation a.yaml in.wav a.yaml",
      "render --force --device ./ring.yaml in.wav ring.yaml", "simulate --force s.yaml s.yaml",
    ] {
      let outcome = try home.shell("$PINNA \(line)")
      #expect([1, 2].contains(outcome.status) && outcome.isOneSentence, "\(line): \(outcome)")
    }
    #expect(files.map { FileManager.default.contents(atPath: home.path + "/" + $0) } == before)
  }
}
