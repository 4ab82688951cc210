import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna check") struct CheckVerbTests {
  let home: VerbHome
  init() throws {
    home = try VerbHome()
    try home.home.addSwappedPair()
  }

  @Test("S21: check reports for every case where voices from the left, right, front and behind came out")
  func right() throws {
    let outcome = try home.pinna("check", "--preset", "pair", "--json")
    #expect(outcome.status == 0, "\(outcome)")
    let json = try outcome.json()
    #expect(json["right"] as? Bool == true && json["live"] as? Bool == false)
    #expect(json["device"] as? String == "pair" && json["array"] as? String == "pair")
    let cases = try #require(json["cases"] as? [[String: Any]])
    #expect(cases.count == 1 && cases[0]["inputOrientation"] as? String == "portrait")
    let voices = try #require(cases[0]["voices"] as? [[String: Any]])
    #expect(voices.map { $0["from"] as? String } == ["left", "right", "front", "behind"])
    #expect(voices.allSatisfy { $0["fault"] is NSNull })
    // A sphere with an ear at either end: its sides are alike, and so are front and back.
    let levels = voices.compactMap { $0["levelDifferenceDB"] as? Double }
    #expect(levels[0] > 3 && abs(levels[0] + levels[1]) < 1 && abs(levels[2]) < 0.5 && abs(levels[3]) < 0.5)
    #expect(abs(try #require(voices[3]["overFrontDB"] as? Double)) < 1)
    let table = try home.pinna("check", "--preset", "pair")
    #expect(table.status == 0 && table.output.contains("Front, portrait"), "\(table)")
    #expect(table.output.contains("in all 1 cases"), "\(table)")
  }

  /// The numbers of glyphs of the titles of a picture's first two panels, each 320 wide: the first row below the legend.
  private func titleGlyphs(in svg: String) -> (left: Int, right: Int) {
    let places = svg.matches(of: /<use [^>]*#glyph[^>]* x="([0-9.]+)" y="([0-9.]+)"/).compactMap {
      match -> (x: Double, y: Double)? in
      guard let x = Double(match.1), let y = Double(match.2), y > 90 else { return nil }
      return (x, y)
    }
    let top = places.map(\.y).min() ?? 0
    let row = places.filter { abs($0.y - top) < 0.01 }
    return (row.count { $0.x < 320 }, row.count { $0.x >= 320 })
  }

  @Test(
    "check --adapt says fixed and adapting angles, and where voices speak; its picture has both side by side")
  func angles() throws {
    let picture = home.path + "/c.svg"
    let outcome = try home.pinna("check", "--preset", "pair", "--adapt", "1", "--picture", picture)
    let row = outcome.output.split(separator: "\n").last { $0.contains(" of +90") }
    #expect(
      row?.contains(/[+-]\d+ → [+-]\d+ of \+90 +[+-]\d+ → [+-]\d+ of -90 +[+-]\d+ → [+-]\d+ of \+0/) == true,
      "\(outcome)")
    let drawn = try String(contentsOfFile: picture, encoding: .utf8)
    let fixed = try home.pinna("check", "--preset", "pair", "--picture", home.path + "/f.svg")
    // Text is drawn as glyphs. "Front, portrait, fixed" is beside "Front, portrait, adapting", with three more.
    let both = titleGlyphs(in: drawn)
    #expect(both.left > 0 && both.right == both.left + 3, "\(both)")
    let alone = titleGlyphs(in: try String(contentsOfFile: home.path + "/f.svg", encoding: .utf8))
    #expect(alone.left == both.left - ", fixed".count && alone.right == 0, "\(alone)")
    #expect(!fixed.output.contains("→"), "\(fixed)")
  }

  @Test(
    "check --adapt 1: voices at the sides of a phone that stands reach the ears as far apart as around a head",
    .nightly
  )
  func adapting() throws {
    let outcome = try home.pinna("check", "--preset", "phone5", "--adapt", "1", "--json")
    let json = try outcome.json()
    #expect(outcome.status == 0 && json["adaptation"] as? Double == 1, "\(outcome)")
    let cases = try #require(json["cases"] as? [[String: Any]])
    let portrait = try #require(cases.first { $0["inputOrientation"] as? String == "portrait" })
    let voices = try #require(portrait["voices"] as? [[String: Any]])
    let times = voices.compactMap { $0["timeDifferenceMicroseconds"] as? Double }
    // A sphere of 8.75 cm at 90°, with creeping waves: (π / 2 + 1) r / c = 656 µs, and 765 µs at low frequencies. The
    // fixed filters reach 460 µs.
    #expect((620...780).contains(times[0]) && (620...780).contains(-times[1]), "\(times)")
  }

  @Test("a value given to a flag is an error that names the flag, and nothing is done")
  func valuesOfFlags() throws {
    for (words, flag) in [
      (["check", "--preset", "pair", "--json=no"], "--json"), (["run", "--radians=no"], "--radians"),
      (["run", "--radians="], "--radians"), (["status", "--help=no"], "--help"),
    ] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
      #expect(outcome.error.hasPrefix("pinna: \(flag) takes no value"), "\(outcome)")
    }
    // The value after the equals sign counts, even if it is empty.
    let empty = try home.pinna(["render", "--period=", "64", "a.wav"])
    #expect(empty.status == 2 && empty.error.contains("--period is empty"), "\(empty)")
  }

  @Test("S21, A4, A6: every voice comes out right in each of phone5's cases, eight of them stereo", .long)
  func phone() throws {
    let outcome = try home.pinna("check", "--preset", "phone5", "--json")
    #expect(outcome.status == 0, "\(outcome)")
    let cases = try #require(try outcome.json()["cases"] as? [[String: Any]])
    #expect(cases.count == 16 && cases.count { $0["polarPattern"] as? String == "stereo" } == 8)
    #expect(cases.allSatisfy { $0["right"] as? Bool == true })
    for one in cases {
      let voices = try #require(one["voices"] as? [[String: Any]])
      let front = try #require(voices.first { $0["from"] as? String == "front" })
      let time = try #require(front["timeDifferenceMicroseconds"] as? Double)
      let level = try #require(front["levelDifferenceDB"] as? Double)
      // A6
      #expect(abs(time) <= 30 && abs(level) <= 2, "\(one)")
    }
  }

  @Test("S21: check reports two swapped microphones with status 1")
  func swapped() throws {
    let outcome = try home.pinna("check", "--preset", "swapped", "--array", "pair", "--json")
    #expect(outcome.status == 1, "\(outcome)")
    let cases = try #require(try outcome.json()["cases"] as? [[String: Any]])
    let voices = try #require(cases[0]["voices"] as? [[String: Any]])
    for (voice, isWrong) in zip(voices, [true, true, false, false]) {
      #expect(voice["fault"] is String == isWrong, "\(voice)")
    }
    let table = try home.pinna("check", "--preset", "swapped", "--array", "pair")
    #expect(table.status == 1 && table.output.contains("1 of 1 cases did not"), "\(table)")
    for side in ["left", "right"] {
      #expect(table.output.contains("WRONG: Front, portrait: the voice from the \(side)"), "\(table)")
    }
  }

  @Test("S21: mono patterns are louder in front, and check reports swapped front and back")
  func mono() throws {
    let device = """
      title: Front and back
      body: free
      microphones:
        one: [0, 0, 10]
        two: [0, 0, -10]
      dataSources:
        Front:
          forward: +z
          microphones: all
          polarPatterns: [omnidirectional, cardioid, figureEight]

      """
    let swapped = device.replacing("one:", with: "x:").replacing("two:", with: "one:").replacing(
      "x:", with: "two:")
    for (name, text) in [("mono", device), ("onom", swapped)] {
      try home.home.add(text, named: name)
    }
    let right = try home.pinna("check", "--preset", "mono")
    #expect(right.status == 0 && right.output.contains("Front, figureEight"), "\(right)")
    let wrong = try home.pinna("check", "--preset", "onom", "--array", "mono")
    #expect(
      wrong.status == 1 && wrong.output.contains("WRONG: Front, cardioid: the voice behind"), "\(wrong)")
  }

  @Test("A18: design, report and check say the same of weak patterns and of those that are not offered")
  func oneJudgement() throws {
    try home.home.add(
      """
      title: Two close microphones
      body: free
      microphones:
        one: [0, 20, 1.25]
        two: [0, 20, -1.25]
      dataSources:
        Front:
          forward: +z
          microphones: all
          polarPatterns: [omnidirectional, cardioid, hypercardioid]

      """, named: "close")
    func lines(_ words: String..., containing text: String) throws -> [Substring] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output.split(separator: "\n").filter { $0.contains(text) }
    }
    let (weak, same) = ("Front, cardioid: ", "Front, hypercardioid: it is hardly different from cardioid")
    let designed = try lines("design", "close", containing: weak)
    let sentence = try #require(designed.first?.split(separator: weak).last)
    #expect(sentence.contains("it is omnidirectional below "), "\(designed)")
    #expect(try lines("design", "close", containing: same).count == 1)
    let report = ["report", "--preset", "close", "--draws", "1"]
    let reported = try home.pinna(report)
    #expect(reported.output.contains(weak + sentence) && reported.output.contains(same), "\(reported)")
    let checked = try home.pinna("check", "--preset", "close")
    #expect(checked.output.contains("weak: \(weak)\(sentence)"), "\(checked)")
    #expect(!checked.output.contains("hypercardioid") && checked.status == 0, "\(checked)")
    #expect(checked.output.contains("in all 1 cases; weak: 1."), "\(checked)")
  }

  @Test("report and check of a preset with feeds say which case each is, and which are not included")
  func feeds() throws {
    try home.home.folder.write(
      """
      title: Pair
      device: pair
      dataSource: Front
      polarPattern: stereo
      inputOrientation: portrait
      feeds:
        hall: {}
        omni: {format: mono}
        room: {format: ambix, order: 1}
      """, to: "config/pinna/three.yaml")
    let (hall, omni) = (
      "The feed hall is Front, stereo, portrait.", "The feed omni is Front, omnidirectional"
    )
    let room =
      "The feed room is Front, ambix of order 1, portrait, which is not included; see: "
      + "pinna report --preset three --format ambix --order 1"
    for (words, omni) in [
      (["report", "--draws", "0"], omni + "."), (["check"], omni + ", which is not included."),
    ] {
      let table = try home.pinna(words + ["--preset", "three"])
      #expect(table.status == 0, "\(table)")
      for sentence in [hall, omni, room] {
        #expect(table.output.contains("\n" + sentence + "\n"), "\(table)")
      }
      let json = try home.pinna(words + ["--preset", "three", "--json"]).json()
      #expect(json["feeds"] as? [String] == [hall, omni, room])
    }
  }

  @Test("check draws where each voice came out")
  func picture() throws {
    let outcome = try home.pinna("check", "--preset", "pair", "--picture", home.path + "/check.png")
    #expect(outcome.status == 0 && outcome.output.contains("check.png"), "\(outcome)")
    let data = try Data(contentsOf: URL(filePath: home.path + "/check.png"))
    #expect(data.prefix(8) == Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) && data.count > 5000)
  }

  @Test("check refuses the impossible in one sentence before it computes anything")
  func refusals() throws {
    let home = try VerbHome(hasFilters: false)
    for (words, status, says) in [
      (["--preset", "pair", "--array", "ring7"], 1, "left-end"), (["--preset", "nosuch"], 1, "nosuch"),
      (["--preset", "pair", "--array", "nosuch"], 1, "nosuch"),
      (["--preset", "pair", "--picture", "p.pdf"], 2, ".png"),
      (["--preset", "pair", "--picture", "/nosuch/p.png"], 1, "/nosuch"),
      (["--name", "other"], 2, "--live"), (["--live", "--preset", "pair"], 2, "--preset"),
      (["--live"], 4, "pinna run"), (["--live", "--adapt", "1"], 2, "--adapt"),
      (["--adapt", "2"], 2, "from 0 to 1"),
      (["--play", "--server", LiveGraph.uniqueName()], 3, "JACK server"),
    ] as [([String], Int32, String)] {
      let outcome = try home.pinna(["check"] + words)
      #expect(outcome.status == status && outcome.isOneSentence, "\(words): \(outcome)")
      #expect(outcome.error.contains(says), "\(words): \(outcome)")
    }
    #expect(!FileManager.default.fileExists(atPath: home.cacheFolder))
    let nothing = try home.pinna("check", "--preset", "phone2")
    #expect(nothing.status == 6 && nothing.error.contains("nothing to check"), "\(nothing)")
  }
}
