import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

/// `pinna talkers` of files.
@Suite("pinna talkers of files") struct TalkersVerbTests {
  let home: VerbHome

  init() throws {
    home = try VerbHome()
    var noise = SeededNoise(seed: 16)
    try home.writeTake("take", (0..<2).map { _ in noise.samples(144_000, amplitude: 0.1) }, [60_000, 84_000])
  }

  /// Changes the take's sidecar.
  private func edit(_ take: String = "take", _ change: (inout [String: Any]) -> Void) throws {
    let path = home.path + "/\(take).json"
    var sidecar =
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as! [String: Any]
    change(&sidecar)
    try JSONSerialization.data(withJSONObject: sidecar).write(to: URL(filePath: path))
  }

  private func list(_ take: String = "take") throws {
    try edit(take) { $0["talkers"] = "4800 3 41 -32 80; 67200 3 off 40 -30 75; 9600 4 -90 -40; 96000 4 off" }
  }

  @Test("a take's sidecar tells who spoke, by any of its files, to standard output and to a file that stays")
  func sidecar() throws {
    try list()
    for file in ["take-microphones.wav", "take_2-microphones.wav", "take.json"] {
      let outcome = try home.pinna(["talkers", home.path + "/" + file, "--seat", "anna=50", "--to", "labels"])
      #expect(outcome.output == "0.100000\t1.400000\tanna\n0.200000\t2.000000\ttalker 2\n", "\(outcome)")
    }
    let words = ["talkers", home.path + "/take.json", home.path + "/who.rttm", "--to", "rttm"]
    #expect(try home.pinna(words).status == 0)
    let file = try String(contentsOfFile: home.path + "/who.rttm", encoding: .utf8)
    #expect(file.hasPrefix("SPEAKER take 1 0.100 1.300 <NA> <NA> talker_1 0.75 <NA>\n"), "\(file)")
    let again = try home.pinna(words)
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"))
    #expect(try home.pinna(words + ["--force"]).status == 0)
    // A running Pinna tells nobody while a microphone is missing.
    try edit { $0["fallbacks"] = [["frame": 9600, "without": ["left-end"]]] }
    let told = try home.pinna(words + ["--force"])
    #expect(
      told.status == 0 && told.error.contains("left-end did not work in a part of this take"), "\(told)")
  }

  @Test(
    "names given after the take stay, and its lists and files per talker have them; others leave them out")
  func namesAfterwards() throws {
    try home.writeTake(
      "one", VerbHome.noise.map { Array(($0 + $0 + $0 + $0 + $0 + $0 + $0 + $0).prefix(144_000)) }, [144_000])
    try list("one")
    let take = home.path + "/one.json"
    func labels() throws -> String { try home.pinna("talkers", take, "--to", "labels").output }
    #expect(try labels() == "0.100000\t1.400000\ttalker 1\n0.200000\t2.000000\ttalker 2\n")
    let sound = try Data(contentsOf: URL(filePath: home.path + "/one-microphones.wav"))
    let edited = try home.pinna("takes", "edit", take, "--seat", "anna maria=45", "--seat", "ben=-80,10")
    #expect(
      edited.status == 0 && edited.output.hasSuffix("no title, 0 markers, anna maria=45, ben=-80,10\n"),
      "\(edited)")
    #expect(try Data(contentsOf: URL(filePath: home.path + "/one-microphones.wav")) == sound)
    #expect(try labels() == "0.100000\t1.400000\tanna maria\n0.200000\t2.000000\tben\n")
    #expect(try home.pinna("talkers", take, "--to", "webvtt").output.contains("<v anna maria>"))
    #expect(try home.pinna("talkers", take, "--to", "rttm").output.contains(" <NA> <NA> ben "))
    let stems = try home.pinna("render", take, "--talkers", "--into", home.path + "/who")
    #expect(Set(home.contents("who")) == ["one.rttm", "anna maria.wav", "ben.wav"], "\(stems)")
    for words in [["--seat", "2=40"], ["--seat", "eva=40", "--seat", "eva=50"], ["--seat", "eva"]] {
      let refused = try home.pinna(["takes", "edit", take] + words)
      #expect(refused.status == 2 && refused.isOneSentence, "\(refused)")
    }
    #expect(try home.pinna("takes", "edit", take, "--seat", "eva=-90").status == 0)
    #expect(try labels() == "0.100000\t1.400000\ttalker 1\n0.200000\t2.000000\teva\n")
    #expect(try home.pinna("takes", "edit", take, "--seat", "off").status == 0)
    #expect(try labels() == "0.100000\t1.400000\ttalker 1\n0.200000\t2.000000\ttalker 2\n")
  }

  @Test("a seat that a feed's part was found by stays where it was")
  func seatOfPart() throws {
    try edit {
      var setup = $0["setup"] as! [String: Any]
      (setup["part"], setup["seats"]) = ("anna", ["anna=40", "ben=-35"])
      $0["setup"] = setup
    }
    let take = home.path + "/take.json"
    for words in [
      ["off"], ["anna=50"], ["eva=40"], ["anna=40", "ben=-50"], ["anna=40", "ben=-35", "eva=90"],
    ] {
      let refused = try home.pinna(["takes", "edit", take] + words.flatMap { ["--seat", $0] })
      #expect(
        refused.status == 1 && refused.isOneSentence && refused.error.contains("anna=40 ben=-35"),
        "\(refused)")
    }
    let kept = try home.pinna("takes", "edit", take, "--seat", "anna=40", "--seat", "eva=-35")
    #expect(kept.status == 0 && kept.output.hasSuffix("anna=40, eva=-35\n"), "\(kept)")
  }

  @Test("a take without talkers is searched in its microphones; one without both is refused in one sentence")
  func neither() throws {
    // Two different noises are nobody.
    let searched = try home.pinna(["talkers", home.path + "/take.json", "--to", "csv"])
    #expect(searched.status == 0, "\(searched)")
    #expect(searched.output == "begin,duration,name,azimuth,elevation,level,confidence\n")
    try edit { sidecar in
      sidecar["files"] = (sidecar["files"] as! [[String: Any]]).map { files in
        files.filter { $0.key != "microphones" }
      }
    }
    let outcome = try home.pinna(["talkers", home.path + "/take.json"])
    #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("--raw"), "\(outcome)")
    try edit { $0["talkers"] = "nonsense" }
    let damaged = try home.pinna(["talkers", home.path + "/take.json"])
    #expect(damaged.status == 1 && damaged.isOneSentence && damaged.error.contains("damaged"), "\(damaged)")
  }

  @Test(
    "render --talkers writes a file as long as the take for each talker, silent where they are, and who spoke when"
  )
  func stems() throws {
    var noise = SeededNoise(seed: 17)
    try home.writeTake("one", (0..<2).map { _ in noise.samples(144_000, amplitude: 0.1) }, [144_000])
    try list("one")
    let words = ["render", home.path + "/one.json", "--talkers", "--into", home.path + "/who"]
    let outcome = try home.pinna(words)
    try #require(outcome.status == 0, "\(outcome)")
    #expect(Set(home.contents("who")) == ["one.rttm", "talker 1.wav", "talker 2.wav"])
    // Talker 1 speaks from 0.1 to 1.4 s, talker 2 from 0.2 to 2 s; a quarter of a second more passes.
    for (name, end) in [("talker 1", 1.4), ("talker 2", 2)] {
      let reader = try AudioFileReader(path: home.path + "/who/\(name).wav")
      let sound = try reader.read(frames: 144_001)
      #expect(sound.count == 144_000 * reader.channels)
      let last = Int((end + 0.25) * 48_000) * reader.channels
      #expect(sound[..<last].contains { $0 != 0 } && sound[last...].allSatisfy { $0 == 0 })
    }
    let rttm = try String(contentsOfFile: home.path + "/who/one.rttm", encoding: .utf8)
    #expect(rttm.split(separator: "\n").count == 2 && rttm.contains(" talker_2 "), "\(rttm)")
    let again = try home.pinna(words)
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"), "\(again)")
    let single = try home.pinna(["render", home.path + "/one.json", home.path + "/a.wav", "--talkers"])
    #expect(single.status == 2 && single.isOneSentence && single.error.contains("--into"), "\(single)")
    // Of a split take, a file would be of one piece, and the list of all.
    try list()
    let split = try home.pinna(
      ["render", home.path + "/take.json", "--talkers", "--into", home.path + "/split"])
    #expect(
      split.status != 0 && split.isOneSentence && split.error.contains("split into 2 files"), "\(split)")
    #expect(home.contents("split") == [])
  }

  @Test("a seat names by its azimuth alone where an array has no height, and any name is valid in JSON")
  func names() throws {
    try list()
    let high = try home.pinna(["talkers", home.path + "/take.json", "--seat", "anna=50,40", "--to", "labels"])
    #expect(high.output.contains("\tanna\n"), "\(high)")
    let name = "a\u{200d}b\u{2028}c"
    let outcome = try home.pinna(["talkers", home.path + "/take.json", "--seat", name + "=50", "--json"])
    let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    #expect("\(json)".contains(name), "\(outcome)")
  }

  @Test("a list does not get the name of a recording's sidecar")
  func sidecarName() throws {
    try home.writeTake("mics", (0..<2).map { _ in [Float](repeating: 0.1, count: 9600) }, [9600])
    unlink(home.path + "/mics.json")
    let output = home.path + "/mics-microphones.json"
    let outcome = try home.pinna(
      ["talkers", home.path + "/mics-microphones.wav", output, "--device", "pair", "--to", "json"])
    #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains("sidecar"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  /// Syllables from 60°, as ring7 hears them.
  private func ring7() throws -> AudioClip {
    var noise = SeededNoise(seed: 18)
    let syllables = noise.samples(240_000, amplitude: 0.2).enumerated().map { n, sample in
      n % 9600 < 6000 ? sample * exp(-Float(n % 9600) / 2400) : 0
    }
    try AudioClip(sampleRate: 48_000, channels: [syllables]).write(wav: home.path + "/voice.wav")
    try home.home.folder.write(
      """
      title: One
      device: ring7
      facing: {dataSource: Front, inputOrientation: portrait}
      noise: {sensor: -75}
      talkers: [{voice: voice.wav, azimuth: 60, distance: 1.2}]
      """, to: "one.yaml")
    let simulated = try home.pinna(["simulate", home.path + "/one.yaml", home.path + "/mics.wav"])
    try #require(simulated.status == 0, "\(simulated)")
    return try AudioClip(path: home.path + "/mics.wav")
  }

  private func talkers(_ clip: AudioClip) throws -> Program.Outcome {
    try clip.write(wav: home.path + "/mics.wav")
    return try home.pinna(["talkers", "--device", "ring7", home.path + "/mics.wav", "--to", "labels"])
  }

  @Test("a dead or clipping microphone is named in one sentence, and hides nobody")
  func faults() throws {
    let clip = try ring7()
    let whole = try talkers(clip)
    #expect(whole.status == 0 && whole.hasNoComplaint && whole.output.contains("talker 1"), "\(whole)")
    for (value, words) in [(Float(0), "is silent"), (.nan, "is silent")] {
      var dead = clip
      dead.channels[2] = dead.channels[2].map { _ in value }
      let outcome = try talkers(dead)
      #expect(outcome.status == 0 && outcome.output.contains("talker 1"), "\(outcome)")
      let lines = outcome.error.split(separator: "\n").filter { $0.contains(words) }
      #expect(lines.count == 1 && lines[0].contains("without it"), "\(outcome)")
    }
    // Invalid samples now and then mute it all the time.
    var often = clip
    for n in stride(from: 0, to: often.channels[2].count, by: 9600) { often.channels[2][n] = .nan }
    let rest = try talkers(often)
    #expect(rest.output.contains("talker 1") && rest.error.contains("found without it"), "\(rest)")
    var clipped = clip
    clipped.channels[4] = clip.channels[4].map { max(-0.06, min(0.06, 4 * $0)) }
    let outcome = try talkers(clipped)
    let lines = outcome.error.split(separator: "\n").filter { $0.contains("clips, first near") }
    #expect(lines.count == 1 && lines[0].contains("without it"), "\(outcome)")
    #expect(outcome.output.contains("talker 1"), "\(outcome)")
    // One invalid sample mutes a microphone for a second, and hides nobody after it.
    var once = clip
    once.channels[0][48_000] = .infinity
    let muted = try talkers(once)
    #expect(muted.error.contains("1 invalid sample") && muted.output.contains("talker 1"), "\(muted)")
  }

  @Test("a number of render --part is that of the take's list; one that is not there is refused")
  func numbers() throws {
    try list()
    let file = home.path + "/take-microphones.wav"
    func part(_ words: String...) throws -> [Float] {
      let outcome = try home.pinna(["render", file, home.path + "/part.wav", "--force"] + words)
      try #require(outcome.status == 0, "\(outcome)")
      return try AudioClip(path: home.path + "/part.wav").channels[0]
    }
    // Talker 2 is at -90°.
    try edit { sidecar in
      var setup = sidecar["setup"] as! [String: Any]
      setup["seats"] = ["there=-90"]
      sidecar["setup"] = setup
    }
    #expect(try part("--part", "2") == part("--part", "there"))
    let outcome = try home.pinna(["render", file, home.path + "/no.wav", "--part", "3"])
    #expect(
      outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("which has 2"), "\(outcome)")
    let automation = try home.home.folder.write("- {at: 0.5, part: ther}\n", to: "automation.yaml")
    let later = try home.pinna(["render", file, home.path + "/no.wav", "--automation", automation])
    #expect(
      later.status == 1 && later.isOneSentence && later.error.contains("did you mean there?"), "\(later)")
    let stranger = try home.pinna(["render", file, home.path + "/no.wav", "--part", "ther"])
    #expect(
      stranger.status == 1 && stranger.isOneSentence && stranger.error.contains("did you mean there?"),
      "\(stranger)")
    #expect(home.contents("").contains("no.wav") == false)
  }

  @Test(
    "--takes lists each take beside its own folder's, and skips what is there; one that fails is told, and others go on"
  )
  func batch() throws {
    for stem in ["a/one", "b/one", "b/none"] {
      try home.writeTake(stem, (0..<2).map { _ in [Float](repeating: 0.1, count: 9600) }, [9600])
      if stem != "b/none" { try list(stem) }
    }
    unlink(home.path + "/b/none-microphones.wav")
    // One that was cut off.
    try AudioClip(sampleRate: 48_000, channels: [[Float](repeating: 0.1, count: 480)]).write(
      wav: home.path + "/b/cut.wav.part")
    let words = [
      "talkers", "--takes", home.path + "/a", home.path + "/b", "--into", home.path + "/who", "--to", "rttm",
    ]
    func states(_ words: [String]) throws -> [String: String] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 7, "\(outcome)")
      let lines = try outcome.output.split(separator: "\n").map {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as! [String: Any]
      }
      return Dictionary(
        uniqueKeysWithValues: lines.map {
          (String(($0["take"] as! String).dropFirst(home.path.count + 1)), $0["state"] as! String)
        })
    }
    let failed = ["b/none.json": "failed", "b/cut.wav.part": "failed"]
    #expect(try states(words) == ["a/one.json": "listed", "b/one.json": "listed"].merging(failed) { $1 })
    #expect(home.contents("who/a") == ["one.rttm"] && home.contents("who/b") == ["one.rttm"])
    #expect(try states(words) == ["a/one.json": "skipped", "b/one.json": "skipped"].merging(failed) { $1 })
    // Neither a file nor the take itself is a place for a list.
    for (into, format, reason) in [
      ("take.json", "rttm", "Not a directory"), ("a", "json", "is no list of talkers"),
    ] {
      let outcome = try home.pinna(
        ["talkers", "--takes", home.path + "/a", "--into", home.path + "/" + into, "--to", format])
      #expect(outcome.status == 7 && outcome.output.contains(reason), "\(outcome)")
    }
    let alone = try home.pinna(["talkers", "--takes", home.path + "/a"])
    #expect(alone.status == 2 && alone.isOneSentence && alone.error.contains("--into"), "\(alone)")
  }

  @Test("what does not belong together is refused")
  func usage() throws {
    for words in [
      ["--to", "csv"], ["--seat", "a=1"], [home.path + "/take.json", "--follow"],
      [home.path + "/take.json", "--seat", "2=10"], [home.path + "/take.json", "--seat", "Talker 2=10"],
      [home.path + "/take.json", "--seat", "Whole=10"],
      [home.path + "/take.json", "--to", "srt"], [home.path + "/take.json", "--json", "--to", "csv"],
    ] {
      let outcome = try home.pinna(["talkers"] + words)
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
    }
  }
}
