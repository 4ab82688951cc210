import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna device") struct DeviceVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  @Test(
    "device new writes a file that design takes, and draws it", .nightly, .long,
    arguments: [
      ["ring", "--microphones", "4", "--radius", "30", "--centre"], ["line", "--microphones", "3"],
      ["grid", "--columns", "3", "--rows", "2", "--spacing", "25"],
    ])
  func new(words: [String]) throws {
    let stem = home.path + "/mine"
    let outcome = try home.pinna(["device", "new", words[0], stem] + words.dropFirst())
    #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    #expect(outcome.output.hasPrefix("wrote \(stem).yaml and drew \(stem).svg; "), "\(outcome)")
    #expect(try String(contentsOfFile: stem + ".svg", encoding: .utf8).hasPrefix("<?xml"))
    let designed = try home.pinna("design", stem + ".yaml", "--sample-rate", "8000", "--json")
    let designs = try #require(try designed.json()["designs"] as? [[String: Any]], "\(designed)")
    #expect(try #require(designs[0]["cases"] as? Int) > 0)
  }

  @Test("device new replaces nothing without --force, and writes nothing that it refuses")
  func refusals() throws {
    let file = home.path + "/mine.yaml"
    #expect(try home.pinna("device", "new", "ring", file).status == 0)
    let before = try String(contentsOfFile: file, encoding: .utf8)
    let again = try home.pinna("device", "new", "line", file)
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"), "\(again)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    #expect(try home.pinna("device", "new", "line", file, "--force", "--format", "png").status == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8) != before)
    #expect(home.contents("").contains("mine.png"))
    for (words, word) in [
      (["cube", "x"], "ring, line, grid, box, sphere"), (["line", "x", "--radius", "5"], "--spacing"),
      (["ring", "x", "--radius", "1"], "from 5 to 2000"),
      (["ring", "x", "--microphones", "64"], "from 1 to 63"),
      (["box", "x", "--size", "1,2"], "three edges"), (["ring", "a b"], "not usable"),
      (["ring", "x", "--placement", "ceiling"], "table"), (["ring", "x", "--format", "pdf"], "svg"),
      (["ring", "x", "--microphones", "63", "--radius", "5"], "no usable device"),
    ] {
      let outcome = try home.pinna(
        ["device", "new"] + [words[0], home.path + "/" + words[1]] + words.dropFirst(2))
      #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains(word), "\(outcome)")
    }
    #expect(!home.contents("").contains { $0.hasPrefix("x") })
    let nowhere = try home.pinna("device", "new", "ring", home.path + "/nowhere/x")
    #expect(nowhere.status == 1 && nowhere.isOneSentence, "\(nowhere)")
  }

  @Test("device check prints channels, positions in the file's frame, and what left and right are")
  func check() throws {
    let picture = home.path + "/p.png"
    let outcome = try home.pinna("device", "check", "respeaker-usb-v2", "--picture", picture)
    #expect(outcome.status == 0, "\(outcome)")
    for line in [
      "  placement: table, body: none", "    mic-1  channel 2 of 6  [-32, 0, 0] mm",
      "    mic-4  channel 5 of 6  [0, 32, 0] mm",
      "    portrait: left is -x, microphone mic-1; right is +x, microphone mic-3",
    ] {
      #expect(outcome.output.contains(line + "\n"), "\(line)\n\(outcome)")
    }
    #expect(FileManager.default.fileExists(atPath: picture))
    let json = try home.pinna("device", "check", "phone5", "--json").json()
    #expect((json["microphones"] as? [Any])?.count == 5 && json["hint"] is NSNull)
    let stereo = try #require(json["stereo"] as? [[String: Any]])
    #expect(stereo.contains { $0["left"] as? String == "the right edge" })
  }

  @Test("device check points at the line, column and field of a mistake, and draws nothing")
  func mistake() throws {
    let text = PinnaHome.pair.replacing("[-80, 0, 0]", with: "[-80, 0]")
    let file = try home.home.folder.write(text, to: "bar.yaml")
    let picture = home.path + "/p.svg"
    let outcome = try home.pinna("device", "check", file, "--picture", picture)
    #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
    #expect(outcome.error.contains("\(file):4:") && outcome.error.contains("left-end"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: picture))
  }

  @Test("a device takes the place of a preset in render, report and export; both together are refused")
  func deviceOption() throws {
    let both = try home.pinna("report", "--device", "pair", "--preset", "phone5")
    #expect(both.status == 2 && both.isOneSentence && both.error.contains("exclude"), "\(both)")
    let file = try home.home.folder.write(PinnaHome.pair, to: "elsewhere/bar.yaml")
    let exported = try home.pinna("export", home.path + "/out", "--to", "wav", "--device", file)
    #expect(exported.status == 0, "\(exported)")
    let none = try home.pinna("run", "--device", "auto", environment: DetectVerbTests.environment("none"))
    #expect(none.status == 1 && none.isOneSentence && none.error.contains("--device NAME"), "\(none)")
    let several = try home.pinna(
      "run", "--device", "auto", environment: DetectVerbTests.environment("matrix"))
    #expect(several.status == 1 && several.error.contains("matrix-creator, matrix-voice"), "\(several)")
  }
}
