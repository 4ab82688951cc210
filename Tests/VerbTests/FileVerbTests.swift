import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("Verbs that read and write files") struct FileVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  @Test("preset list has titles in its JSON, and reports faulty and ignored files")
  func presetList() throws {
    try home.home.folder.write("title: 3\n", to: "config/pinna/broken.yaml")
    try home.home.folder.write(PinnaHome.preset(of: "pair"), to: "config/pinna/short.YML")
    try home.home.folder.write(PinnaHome.preset(of: "pair"), to: "config/pinna/my preset.yaml")
    try home.home.folder.write(PinnaHome.pair, to: "config/pinna/devices/bar.YAML")
    let outcome = try home.pinna("preset", "list", "--json")
    #expect(outcome.status == 0)
    let presets = try #require(try outcome.json()["presets"] as? [[String: Any]])
    #expect(presets.allSatisfy { Set($0.keys) == ["name", "title", "device", "unusable"] })
    let pair = try #require(presets.first { $0["name"] as? String == "pair" })
    #expect(pair["title"] as? String == "Pair" && pair["device"] as? String == "pair")
    let broken = try #require(presets.first { $0["name"] as? String == "broken" })
    #expect((broken["unusable"] as? String)?.contains("device") == true)
    #expect(!presets.contains { ($0["name"] as? String)?.contains("short") == true })
    let lines = outcome.error.split(separator: "\n")
    #expect(lines.count == 3, "\(outcome)")
    for words in [
      "ignoring \(home.home.configFolder)/pinna/short.YML; rename it to short.yaml",
      "ignoring \(home.home.configFolder)/pinna/my preset.yaml; rename it",
      "ignoring \(home.home.configFolder)/pinna/devices/bar.YAML; rename it to bar.yaml",
    ] {
      #expect(lines.contains { $0.contains(words) }, "\(outcome)")
    }
  }

  @Test("preset show prints a faulty file with the reason; its JSON is only an error")
  func presetShow() throws {
    let text = "title: Broken\ndevice: nosuch\n"
    try home.home.folder.write(text, to: "config/pinna/broken.yaml")
    let outcome = try home.pinna("preset", "show", "broken")
    #expect(outcome.status == 1 && outcome.output == text, "\(outcome)")
    #expect(outcome.error.hasPrefix("pinna: ") && outcome.error.contains("nosuch"), "\(outcome)")
    #expect(outcome.error.count { $0 == "\n" } == 1, "\(outcome)")
    let document = try home.pinna("preset", "show", "broken", "--json")
    #expect(document.status == 1 && document.isOneSentence, "\(document)")
  }

  @Test("a tilde that the shell left in an option is the home folder")
  func tilde() throws {
    let outcome = try home.pinna("takes", "repair", "--dir=~/takes", environment: ["HOME": home.path])
    #expect(
      outcome.output + outcome.error != "" && !(outcome.output + outcome.error).contains("~"), "\(outcome)")
    #expect((outcome.output + outcome.error).contains(home.path + "/takes"), "\(outcome)")
    let stranger = try home.pinna("takes", "list", "--dir=~nosuchuser/takes")
    #expect(stranger.status == 2 && stranger.isOneSentence, "\(stranger)")
  }

  @Test("render --gain replaces the preset's gain")
  func gain() throws {
    let input = home.path + "/in.wav"
    var noise = SeededNoise(seed: 1)
    try AudioClip(sampleRate: 48000, channels: [noise.samples(4800), noise.samples(4800)])
      .write(wav: input)
    for (gain, output) in [("0", "plain.wav"), ("-6", "soft.wav")] {
      let outcome = try home.pinna(
        "render", "--force", "--preset", "pair", "--gain", gain, input, home.path + "/" + output)
      #expect(outcome.status == 0, "\(outcome)")
    }
    let plain = try AudioClip(path: home.path + "/plain.wav").channels[0]
    let soft = try AudioClip(path: home.path + "/soft.wav").channels[0]
    let factor = Float(pow(10, -6.0 / 20))
    // Both are rounded to float: a few units in the last place of values below 1.
    #expect(zip(plain, soft).allSatisfy { abs($0 * factor - $1) < 1e-6 })
    #expect(plain.contains { abs($0) > 0.1 })
    let refused = try home.pinna("render", "--gain", "25", input, home.path + "/no.wav")
    #expect(refused.status == 2 && refused.isOneSentence && refused.error.contains("24"), "\(refused)")
  }

  @Test(
    "an output file name of another format is refused, and nothing is written",
    arguments: ["mp3", "ogg"])
  func otherFormats(ending: String) throws {
    let scene = repositoryFolder + "/Presets/scenes/phone5-voices.yaml"
    let output = home.path + "/out.\(ending)"
    for words in [["simulate", scene, output], ["render", scene, output]] {
      let outcome = try home.pinna(words[0], words[1], words[2])
      #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains(".wav"), "\(outcome)")
      #expect(!FileManager.default.fileExists(atPath: output))
    }
  }

  @Test("a missing input is named, with what to do next")
  func missing() throws {
    let render = try home.pinna("render", "--preset", "pair", home.path + "/no.wav", home.path + "/out.wav")
    #expect(
      render.status == 1 && render.isOneSentence && render.error.contains("pinna simulate"), "\(render)")
    let simulate = try home.pinna("simulate", home.path + "/no.yaml", home.path + "/out.wav")
    #expect(
      simulate.status == 1 && simulate.isOneSentence && simulate.error.contains("scenes/"), "\(simulate)")
    let text = try home.home.folder.write("text", to: "text.wav")
    let other = try home.pinna("render", "--preset", "pair", text, home.path + "/out.wav")
    #expect(other.status == 1 && other.isOneSentence && other.error.contains("WAV"), "\(other)")
    #expect(!FileManager.default.fileExists(atPath: home.path + "/out.wav"))
  }
}
