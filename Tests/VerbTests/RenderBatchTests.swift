import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna render --takes") struct RenderBatchTests {
  let home: VerbHome

  init() throws {
    home = try VerbHome()
    try #require(try home.pinna("design", "pair").status == 0)
  }

  private static func sound(_ seed: UInt64, frames: Int = 6000) -> [[Float]] {
    return SeededNoise.channels(2, frames, amplitude: 0.25, seed: seed)
  }

  /// The lines of standard output, which are JSON documents, by the path of the take below the home.
  private func lines(_ outcome: Program.Outcome) throws -> [String: [String: Any]] {
    let documents = try outcome.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\(outcome)")
    }
    let named = documents.map { document in
      ((document["take"] as? String ?? "").replacingOccurrences(of: home.path + "/", with: ""), document)
    }
    return try Dictionary(named) { _, _ in throw SupportError("two lines about one take: \(outcome)") }
  }

  private func states(_ outcome: Program.Outcome) throws -> [String: String] {
    try lines(outcome).mapValues { $0["state"] as? String ?? "" }
  }

  /// Takes in two folders and one within them: two of one name, one in three files.
  private func writeTakes() throws {
    try home.writeTake("a/one", Self.sound(1), [6000])
    try home.writeTake("b/one", Self.sound(2), [6000])
    try home.writeTake("b/day 2/it's $1", Self.sound(3), [1000, 2000, 3000], pattern: "omnidirectional")
  }

  @Test("every take is rendered as by hand, takes of one name apart, and what is complete is skipped")
  func takes() throws {
    try writeTakes()
    let first = try home.shell("$PINNA render --takes a b --into out --jobs 2")
    #expect(first.status == 0 && first.hasNoComplaint, "\(first)")
    let lines = try lines(first)
    let expected = [
      "a/one.wav": ["a/one"], "b/one.wav": ["b/one"],
      "b/day 2/it's $1.wav": ["b/day 2/it's $1", "b/day 2/it's $1_2", "b/day 2/it's $1_3"],
    ]
    #expect(Set(lines.keys) == Set(expected.keys), "\(first)")
    for (take, stems) in expected {
      let line = try #require(lines[take])
      #expect(line["state"] as? String == "rendered" && line["frames"] as? Int == 6000, "\(line)")
      #expect(line["outputs"] as? [String] == stems.map { "\(home.path)/out/\($0).wav" }, "\(line)")
      for stem in stems {
        let byHand = home.path + "/hand.wav"
        #expect(
          try home.pinna("render", "--force", "\(home.path)/\(stem)-microphones.wav", byHand).status == 0)
        #expect(
          try AudioClip(path: byHand).channels == AudioClip(path: "\(home.path)/out/\(stem).wav").channels)
      }
    }
    let before = try Data(contentsOf: URL(filePath: home.path + "/out/a/one.wav"))
    // One is gone, one was cut off by somebody.
    unlink(home.path + "/out/b/one.wav")
    truncate(home.path + "/out/b/day 2/it's $1_2.wav", 5000)
    let second = try home.shell("$PINNA render --takes a b --into out")
    #expect(second.status == 0, "\(second)")
    #expect(
      try states(second) == [
        "a/one.wav": "skipped", "b/one.wav": "rendered", "b/day 2/it's $1.wav": "rendered",
      ])
    let third = try home.shell("$PINNA render --takes a --takes b --into out")
    #expect(try states(third).values.allSatisfy { $0 == "skipped" } && third.status == 0, "\(third)")
    let main = try home.shell("$PINNA render --takes a b --into out --feeds main")
    #expect(try states(main).values.allSatisfy { $0 == "skipped" } && main.status == 0, "\(main)")
    let other = try home.shell("$PINNA render --takes a b --into other --feeds anna")
    #expect(other.status == 7 && other.output.contains("it has none of these feeds"), "\(other)")
    let file = try home.shell("$PINNA render --takes a b --into other --feeds ./feeds.yaml")
    #expect(file.status == 2 && file.error.contains("give names with commas"), "\(file)")
    // A title changes the files, and not their sound.
    #expect(try home.pinna("takes", "edit", home.path + "/a/one.wav", "--title", "Rain").status == 0)
    let titled = try home.shell("$PINNA render --takes a b --into out")
    #expect(try states(titled).values.allSatisfy { $0 == "skipped" } && titled.status == 0, "\(titled)")
    #expect(try Data(contentsOf: URL(filePath: home.path + "/out/a/one.wav")) == before)
  }

  @Test("options are those of each render; outputs of other options, and other files, are never replaced")
  func options() throws {
    try writeTakes()
    let mono = "$PINNA render --takes a --into out --pattern omnidirectional --gain -6"
    #expect(try home.shell(mono).status == 0)
    let output = home.path + "/out/one.wav"
    let byHand = try home.shell(
      "$PINNA render --force --pattern omnidirectional --gain=-6 a/one-microphones.wav hand.wav")
    #expect(byHand.status == 0, "\(byHand)")
    #expect(try AudioClip(path: output).channels == AudioClip(path: home.path + "/hand.wav").channels)
    let before = try Data(contentsOf: URL(filePath: output))
    #expect(try states(home.shell(mono)) == ["a/one.wav": "skipped"])
    // Another case, and a take of another folder with the same name.
    for words in ["--takes a", "--takes b --pattern omnidirectional --gain -6"] {
      let other = try home.shell("$PINNA render \(words) --into out")
      let isOne = try lines(other).filter { $0.key.hasSuffix("one.wav") }
      #expect(other.status == 7, "\(other)")
      #expect(!isOne.isEmpty)
      #expect(isOne.values.allSatisfy { ($0["error"] as? String)?.contains("out/one.wav is there") == true })
      #expect(try Data(contentsOf: URL(filePath: output)) == before)
    }
    try home.home.folder.write("mine", to: "mine/one.wav")
    let mine = try home.shell("$PINNA render --takes a --into mine; cat mine/one.wav")
    #expect(mine.output.contains("\"failed\"") && mine.output.hasSuffix("mine"), "\(mine)")
  }

  @Test("a take that fails leaves the others alone, and the status is 7")
  func failures() throws {
    try writeTakes()
    try home.home.folder.write("no sound", to: "a/bad-microphones.wav")
    let sidecar = try String(contentsOfFile: home.path + "/a/one.json", encoding: .utf8)
    try home.home.folder.write(sidecar.replacingOccurrences(of: "\"one", with: "\"bad"), to: "a/bad.json")
    try home.home.folder.write(sidecar.replacingOccurrences(of: "\"one", with: "\"gone"), to: "a/gone.json")
    try home.home.folder.write("{", to: "a/broken.json")
    try home.home.folder.write("", to: "a/broken.wav")
    try home.home.folder.write("{}", to: "a/no-sidecar.json")
    let raw = sidecar.replacingOccurrences(of: #", "microphones": "one-microphones.wav""#, with: "")
    try home.home.folder.write(raw.replacingOccurrences(of: "\"one", with: "\"outputs"), to: "a/outputs.json")
    let outcome = try home.shell("$PINNA render --takes a b --into out")
    #expect(outcome.status == 7, "\(outcome)")
    #expect(
      try states(outcome) == [
        "a/one.wav": "rendered", "b/one.wav": "rendered", "b/day 2/it's $1.wav": "rendered",
        "a/bad.wav": "failed", "a/gone.wav": "failed", "a/broken.wav": "failed", "a/outputs.wav": "failed",
      ])
    let lines = try lines(outcome)
    for (take, word) in [
      ("bad", "bad-microphones.wav"), ("gone", "there is no file"), ("broken", "broken.json"),
      ("outputs", "no microphones to render: it was recorded without --raw"),
    ] {
      #expect((lines["a/\(take).wav"]?["error"] as? String)?.contains(word) == true, "\(outcome)")
    }
    #expect(home.contents("out/a") == ["one.wav"])
  }

  @Test("printed jobs are commands for a shell in any folder, and do what the batch does")
  func printed() throws {
    try writeTakes()
    #expect(try home.shell("$PINNA render --takes a b --into batch").status == 0)
    let printed = try home.shell("$PINNA render --takes a b --into 'jobs of mine' --print-jobs >jobs.txt")
    #expect(printed.status == 0 && printed.hasNoComplaint, "\(printed)")
    let jobs = try String(contentsOfFile: home.path + "/jobs.txt", encoding: .utf8).split(separator: "\n")
    #expect(jobs.count == 3 && home.contents("jobs of mine/a").isEmpty)
    for job in jobs {
      #expect(
        try Program.run("/bin/sh", ["-c", "cd / && \(job)"], environment: home.home.environment).status == 0)
    }
    for name in ["a/one", "b/one", "b/day 2/it's $1", "b/day 2/it's $1_3"] {
      let (one, other) = ("\(home.path)/batch/\(name).wav", "\(home.path)/jobs of mine/\(name).wav")
      #expect(try Data(contentsOf: URL(filePath: one)) == Data(contentsOf: URL(filePath: other)))
    }
    let again = try home.shell("$PINNA render --takes a b --into 'jobs of mine' --print-jobs")
    #expect(again.status == 0 && again.output.isEmpty, "\(again)")
  }

  @Test("a folder of bare sound files, or of none, has no takes: that is said, with what to do, and status 1")
  func noTakes() throws {
    try FileManager.default.createDirectory(
      atPath: home.path + "/bare/empty", withIntermediateDirectories: true)
    try AudioClip(sampleRate: 48000, channels: Self.sound(1)).write(wav: home.path + "/bare/mics.wav")
    for words in ["bare", "bare/empty", "bare --print-jobs"] {
      let outcome = try home.shell("$PINNA render --takes \(words) --into out")
      #expect(outcome.status == 1 && outcome.isOneSentence && outcome.output.isEmpty, "\(outcome)")
      #expect(
        outcome.error.contains("no takes in bare") && outcome.error.contains("pinna render MICS.wav OUT.wav"))
    }
    #expect(home.contents("out").isEmpty)
  }

  // MARK: Ends

  /// Takes of ten minutes of silence, which take no space.
  private func writeLongTakes(_ count: Int) throws {
    let bytes = 4 * 48000 * 200
    let header = Data(StatedSound(.wav, .right).header(sound: bytes, channels: 2))
    for n in 0..<count {
      try home.writeTake("long/\(n)", Self.sound(1), [6000])
      let path = try home.home.folder.write(header, to: "long/\(n)-microphones.wav")
      truncate(path, off_t(44 + bytes))
      let sidecar = try String(contentsOfFile: "\(home.path)/long/\(n).json", encoding: .utf8)
      try home.home.folder.write(
        sidecar.replacingOccurrences(of: "6000", with: "\(bytes / 4)"), to: "long/\(n).json")
    }
  }

  private func parts() -> [String] { home.contents("out").filter { $0.hasSuffix(".part") } }

  /// The children of a process.
  private func children(_ pid: Int32) -> [Int32] {
    let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
    return (text ?? "").split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
  }

  @Test(
    "INT, TERM and HUP end the children, and leave no half file; the same command goes on", .long,
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func signals(number: Int32) throws {
    try writeLongTakes(3)
    let command = "exec $PINNA render --takes long --into out --jobs 2"
    let program = try home.startShell(command)
    try #require(try waitUntil(seconds: 60) { parts().count == 2 })
    let started = children(program.pid)
    program.signal(number)
    let outcome = try #require(program.wait(seconds: 20))
    #expect(outcome.status == 1 && outcome.error.contains("interrupted"), "\(outcome)")
    #expect(started.count == 2 && started.allSatisfy { kill($0, 0) != 0 }, "\(started)")
    #expect(parts().isEmpty)
    let rest = try home.shell(command)
    #expect(rest.status == 0 && home.contents("out") == ["0.wav", "1.wav", "2.wav"], "\(rest)")
  }

  @Test(
    "an output that was rendered with another content of the same automation file is not taken for complete",
    .long)
  func automation() throws {
    try writeLongTakes(1)
    let command = "$PINNA render --takes long --into out --automation a.yaml"
    func states(gain: Int) throws -> (Int32, String) {
      try home.home.folder.write("- {at: 0.1, gain: \(gain)}\n", to: "a.yaml")
      let outcome = try home.shell("cd \(home.path) && " + command)
      return (outcome.status, outcome.output)
    }
    #expect(try states(gain: -3).0 == 0)
    #expect(try states(gain: -3).1.contains(#""state":"skipped""#))
    let other = try states(gain: -6)
    #expect(other.0 == 7 && other.1.contains("is there, and is not this take"), "\(other)")
  }

  @Test("an output that was rendered before the preset's device file changed is not taken for complete")
  func changedPreset() throws {
    try writeTakes()
    let command = "$PINNA render --takes b --into out --preset pair"
    func outcome() throws -> Program.Outcome { try home.shell(command) }
    #expect(try outcome().status == 0)
    #expect(try Set(states(outcome()).values) == ["skipped"])
    try home.home.folder.write(PinnaHome.pair + "# other\n", to: "config/pinna/devices/pair.yaml")
    let other = try outcome()
    #expect(other.status == 7 && other.output.contains("is there, and is not this take"), "\(other)")
  }

  @Test("a part by a name that was rendered before its seat was edited is not taken for complete")
  func movedSeat() throws {
    try writeTakes()
    func outcome() throws -> Program.Outcome {
      try home.shell("$PINNA render --takes b --into out --part anna")
    }
    func sit(_ seat: String) throws {
      for take in ["one", "day 2/it's $1"] {
        let edit = try home.pinna("takes", "edit", "\(home.path)/b/\(take).wav", "--seat", seat)
        try #require(edit.status == 0, "\(edit)")
      }
    }
    try sit("anna=30")
    let first = try outcome()
    #expect(first.status == 0, "\(first)")
    #expect(try Set(states(outcome()).values) == ["skipped"])
    try sit("anna=-30")
    let other = try outcome()
    #expect(other.status == 7 && other.output.contains("is there, and is not this take"), "\(other)")
  }

  @Test("a batch that was started with nohup goes on when the terminal is closed", .long)
  func nohup() throws {
    try writeLongTakes(2)
    let program = try home.startShell("exec nohup $PINNA render --takes long --into out --jobs 1")
    try #require(try waitUntil(seconds: 60) { parts().count == 1 })
    program.signal(SIGHUP)
    let outcome = try #require(program.wait(seconds: 120))
    #expect(outcome.status == 0 && home.contents("out") == ["0.wav", "1.wav"], "\(outcome)")
  }

  @Test("R51: a child that is killed fails alone, and what it left does not stop the next run", .long)
  func killed() throws {
    try writeLongTakes(3)
    let program = try home.startShell("exec $PINNA render --takes long --into out --jobs 1")
    try #require(try waitUntil(seconds: 60) { parts() == ["0.wav.part"] })
    for child in children(program.pid) { kill(child, SIGKILL) }
    let outcome = try #require(program.wait(seconds: 120))
    #expect(outcome.status == 7, "\(outcome)")
    let first = try #require(try lines(outcome)["long/0.wav"])
    #expect((first["error"] as? String)?.contains("signal 9") == true, "\(outcome)")
    #expect(home.contents("out") == ["0.wav.part", "1.wav", "2.wav"])
    let rest = try home.shell("$PINNA render --takes long --into out")
    #expect(
      try states(rest) == ["long/0.wav": "rendered", "long/1.wav": "skipped", "long/2.wav": "skipped"],
      "\(rest)")
    #expect(home.contents("out") == ["0.wav", "1.wav", "2.wav"])
  }

  @Test("a .part that is being written, or that is no sound of Pinna's, is not removed as a leftover")
  func foreignParts() throws {
    try writeTakes()
    let part = try home.home.folder.write("mine", to: "out/one.wav.part")
    let foreign = try home.shell("$PINNA render --takes a --into out")
    #expect(foreign.status == 7 && foreign.output.contains("one.wav.part"), "\(foreign)")
    #expect(try String(contentsOfFile: part, encoding: .utf8) == "mine")
    unlink(part)
    let writer = try AudioFileWriter(path: home.path + "/out/one.wav", channels: 2, sampleRate: 48000)
    defer { writer.abandon() }
    #expect(try home.shell("$PINNA render --takes a --into out").status == 7)
    #expect(access(part, F_OK) == 0)
  }

  @Test(
    "options and folders that make no batch are refused",
    arguments: [
      ("--takes .", 2, "--into"), ("--into out a b", 2, "either OUT.wav"),
      ("--jobs 2 a b", 2, "needs --takes"),
      ("--print-jobs a b", 2, "needs --takes"), ("--takes nosuch --into out", 1, "there is no folder nosuch"),
      ("--takes . --into out --jobs 0", 2, "--jobs"), ("--takes - --into out", 2, "standard input"),
      ("--takes . --into -", 2, "standard input"), ("a", 2, "either OUT.wav"),
    ])
  func usage(words: String, status: Int32, word: String) throws {
    let outcome = try home.shell("$PINNA render \(words)")
    #expect(outcome.status == status && outcome.isOneSentence && outcome.error.contains(word), "\(outcome)")
    #expect(home.contents("out").isEmpty)
  }
}
