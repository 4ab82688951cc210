import Foundation
import LiveSupport
import TestSupport
import Testing

/// `pinna device new laptop`, and what `pinna detect` says about laptops.
@Suite("pinna device new laptop") struct LaptopVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  private func new(_ tree: String, _ words: String...) throws -> Program.Outcome { try new(tree, words) }

  private func new(_ tree: String, _ words: [String]) throws -> Program.Outcome {
    let line = ["\"$PINNA\" device new laptop mine"] + words
    let environment = DetectVerbTests.environment(tree)
    return try home.shell(
      (environment.map { "\($0)='\($1)'" } + [line.joined(separator: " ")]).joined(separator: " "))
  }

  @Test(
    "detect names the command for what the firmware says, and the digital microphones' device",
    arguments: [
      ("laptop", "NAME\n", "no device file describes it:"),
      ("laptop-four", "NAME\n", "no device file describes it:"),
      ("laptop-vendor", "NAME\n", "no device file describes it:"),
      ("laptop-named", "NAME --microphones N --spacing MM\n", "ALSA has no positions"),
      ("laptop-zero", "NAME --spacing MM\n", "at one point"),
      ("laptop-nonsense", "NAME --spacing MM\n", "differ by 65535 mm"),
    ])
  func detect(tree: String, options: String, reason: String) throws {
    let outcome = try home.pinna("detect", environment: DetectVerbTests.environment(tree))
    #expect(outcome.status == 0 && outcome.output.contains(reason), "\(outcome)")
    #expect(outcome.output.contains("    describe it:   pinna device new laptop \(options)"), "\(outcome)")
    #expect(
      outcome.output.contains("    JACK:          jackd -d alsa -d hw:sofhdadsp,6 -r 48000\n"), "\(outcome)")
  }

  @Test("the file that it writes is what device check reads, and detect finds it afterwards")
  func written() throws {
    let outcome = try new("laptop-four", "--force")
    #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    for words in [
      "wrote mine.yaml and drew mine.svg; from what its firmware says, without the lid (--size adds it)",
      "  pinna run --device ./mine.yaml --connect\n",
      "  pinna array check --device ./mine.yaml --live --guided\n",
    ] {
      #expect(outcome.output.contains(words), "\(words): \(outcome)")
    }
    let checked = try home.pinna("device", "check", home.path + "/mine.yaml")
    for line in [
      "  placement: camera, body: none", "  4 microphones, 132 × 0 × 0 mm along x, y and z of the file",
      "  its positions were inferred (from firmware (ACPI NHLT), certain in differences only)",
      "  its model leaves out the lid and the base", "    mic-2  channel 2 of 4  [-22, 0, 0] mm",
      "  Front: omnidirectional, stereo",
      "    portrait: left is -x, microphone mic-1; right is +x, microphone mic-4",
    ] {
      #expect(checked.status == 0 && checked.output.contains(line + "\n"), "\(line): \(checked)")
    }
    try home.home.folder.write(
      try String(contentsOfFile: home.path + "/mine.yaml", encoding: .utf8),
      to: "config/pinna/devices/mine.yaml")
    let found = try home.pinna("detect", environment: DetectVerbTests.environment("laptop-four"))
    #expect(found.output.contains("  mine: mine, likely by the name of its card\n"), "\(found)")
    #expect(found.output.contains("jackd -d alsa -d hw:sofhdadsp,6 -r 48000\n"), "\(found)")
    #expect(found.output.contains("pinna run --device mine --connect\n"), "\(found)")
  }

  @Test("a lid is a thin box with the microphones near its upper edge")
  func lid() throws {
    let outcome = try new("laptop", "--size", "310,210,6")
    #expect(outcome.status == 0 && outcome.output.contains(", on its lid; "), "\(outcome)")
    let json = try home.pinna("device", "check", home.path + "/mine.yaml", "--json").json()
    #expect(json["body"] as? String == "a box of 310 × 210 × 6 mm")
    let microphones = try #require(json["microphones"] as? [[String: Any]])
    #expect(microphones.map { $0["position"] as? [Double] } == [[-20, 100, 3], [20, 100, 3]])
  }

  @Test("microphones of which the firmware says too little are a line of the given spacing")
  func spacing() throws {
    for (tree, words, expected) in [
      ("laptop-named", ["--microphones", "4", "--spacing", "20"], [-30.0, -10, 10, 30]),
      ("laptop-zero", ["--spacing", "50"], [-25, 25]), ("laptop-nonsense", ["--spacing", "50"], [-25, 25]),
    ] {
      let outcome = try new(tree, words + ["--force"])
      #expect(outcome.status == 0, "\(outcome)")
      let json = try home.pinna("device", "check", home.path + "/mine.yaml", "--json").json()
      let microphones = try #require(json["microphones"] as? [[String: Any]])
      #expect(microphones.map { ($0["position"] as? [Double])?.first } == expected)
      let file = try String(contentsOfFile: home.path + "/mine.yaml", encoding: .utf8)
      #expect(file.contains("certainty: measured") && file.contains("card: [\"sofhdadsp\", \"sof-hda-dsp\"]"))
    }
  }

  @Test("what cannot be described is refused in one sentence that says what to do, and nothing is written")
  func refusals() throws {
    for (tree, words, status, reason) in [
      ("laptop-named", "", Int32(1), "card 0, sofhdadsp: ALSA has no positions"),
      ("laptop-named", "--spacing 20", 2, "add --microphones N"), ("laptop-zero", "", 1, "add --spacing MM"),
      ("laptop-nonsense", "", 1, "65535 mm, which cannot be true"),
      ("laptop", "--microphones 2", 2, "needs --spacing"),
      ("laptop", "--radius 5", 2, "--microphones, --spacing, --size, --card"),
      ("laptop", "--placement table", 2, "a laptop has no --placement"),
      ("laptop", "--spacing 1", 2, "from 5 to 200"),
      ("laptop", "--size 50,200,6", 0, ""),
      ("laptop-four", "--size 100,200,6", 1, "--size WIDTH,HEIGHT,DEPTH"),
      ("laptop-vendor", "--size 300,200,6", 1, "leave out --size"),
      ("laptop", "--card PCH", 1, "no sound card \"PCH\" captures sound; use one of: sofhdadsp"),
      ("webcam", "", 1, "no sound card of this computer has digital microphones"),
      ("laptop", "--card 0", 0, ""),
    ] {
      let outcome = try new(tree, words)
      #expect(outcome.status == status, "\(tree) \(words): \(outcome)")
      guard status != 0 else {
        for name in ["mine.yaml", "mine.svg"] {
          try FileManager.default.removeItem(atPath: home.path + "/" + name)
        }
        continue
      }
      #expect(outcome.isOneSentence && outcome.error.contains(reason), "\(tree) \(words): \(outcome)")
      #expect(!home.contents("").contains("mine.yaml"))
    }
  }

  @Test(
    "what it writes can be designed, and offers stereo and omnidirectional to the front and the back", .long,
    arguments: ["laptop", "laptop-four", "laptop-vendor"])
  func design(tree: String) throws {
    #expect(try new(tree).status == 0)
    let outcome = try home.pinna("design", home.path + "/mine.yaml", "--sample-rate", "16000", "--json")
    let designs = try #require(try outcome.json()["designs"] as? [[String: Any]], "\(outcome)")
    #expect(designs[0]["cases"] as? Int == 4, "\(outcome)")
  }
}
