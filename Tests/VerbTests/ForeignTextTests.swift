import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// R48: what others named or wrote, as verbs without a server show it. ForeignNameTests has the JACK graph.
@Suite("Text of others") struct ForeignTextTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// Escapes of a terminal, a line break, a byte that begins an escape alone, a change of direction.
  static let evil = "ev\u{1b}]0;PWNED\u{7}\nil\u{9b}31m\u{202e}x"

  /// Whether a terminal, a page or a program shows `text` and does nothing else.
  static func isClean(_ text: String) -> Bool {
    let unwanted = CharacterSet.controlCharacters.union(.newlines)
    return text.unicodeScalars.allSatisfy { $0 == "\n" || !unwanted.contains($0) }
  }

  @Test(
    "R48: file names, presets, sidecars, arguments and options reach terminal and JSON escaped, on lines of their own"
  )
  func files() throws {
    let folder = home.home.folder
    let takes = folder.path + "/takes-\(Self.evil)"
    try FileManager.default.createDirectory(atPath: takes, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: URL(filePath: takes + "/t.json"))
    try AudioClip(sampleRate: 8000, channels: [[0]]).write(wav: takes + "/t.wav")
    try folder.write("title: \(Self.evil.replacing("\n", with: ""))\n", to: "config/pinna/raw.yaml")
    try folder.write(PinnaHome.preset(of: "pair") + "\u{1b}[2J: x\n", to: "config/pinna/keyed.yaml")
    let device = try folder.write(PinnaHome.pair, to: "dev-\(Self.evil)/d.yaml")
    let scene = try folder.write("title: t\ndevice: \"\\e[31m\"\n", to: "s-\(Self.evil).yaml")
    let render = ["render", "--preset", "pair", "a.wav", "b.wav"]
    var (shown, raw) = (0, 0)
    for words in [
      ["takes", "list", "--dir", takes], ["takes", "list", "--dir", takes, "--json"],
      ["takes", "repair", "--dir", takes],
      ["preset", "list"], ["preset", "list", "--json"], ["preset", "show", "raw"],
      ["preset", "show", "keyed"],
      ["preset", "check"], ["preset", "check", "--json"], ["preset", "show", Self.evil], [Self.evil],
      ["run", "--name", Self.evil], render + ["--pattern", Self.evil], render + ["--gain", Self.evil],
      ["record", Self.evil], ["preset", "list", "--\(Self.evil)"], ["preset", "list", "--json=\(Self.evil)"],
      ["device", "check", device], ["device", "check", folder.path + "/none-\(Self.evil).yaml"],
      ["device", "new", Self.evil, "x"], ["device", "new", "ring", Self.evil],
      ["bank", "save", "b", Self.evil],
      ["simulate", scene, home.path + "/o.wav"],
      ["render", home.path + "/\(Self.evil).wav", home.path + "/o.wav"],
      ["status", "--name", "a", "--server", Self.evil], ["play", Self.evil],
      ["design", "pair", "--without", Self.evil],
      ["run", "--monitor", Self.evil], ["doctor", "--report", home.path + "/no/\(Self.evil)"],
      ["report", "--preset", "pair", "--plots", "/proc/\(Self.evil)"], ["help", Self.evil],
    ] {
      let outcome = try home.pinna(words)
      let text = outcome.output + outcome.error
      shown += 1
      if !Self.isClean(text) { raw += 1 }
      #expect(Self.isClean(text), "\(words.map(\.debugDescription)): \(text.debugDescription)")
      // The line break within a name begins no line.
      #expect(
        !text.split(separator: "\n").contains { $0.hasPrefix("il") }, "\(words): \(text.debugDescription)")
    }
    let json = try home.pinna("takes", "list", "--dir", takes, "--json").json()
    #expect(json["folder"] as? String == takes)
    Faults.report(
      "R48",
      done: "escapes of terminals in \(shown) names, files and arguments: raw on a terminal or in JSON",
      measured: "\(raw)", limit: "0", kept: raw == 0)
  }

  @Test("R48: verbs print through the one function that escapes")
  func oneWay() throws {
    let folder = repositoryFolder + "/Sources/pinna"
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
    #expect(names.count > 50)
    for name in names {
      let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
      let calls = text.split(separator: "\n").filter {
        !$0.contains("func ") && $0.firstMatch(of: /(\s|Swift\.)(print|fputs|puts)\(/) != nil
      }
      #expect(calls.isEmpty, "\(name): \(calls)")
    }
  }

  @Test(
    "words that are echoed are cut, and a long path leaves the remedy", arguments: [100, 10_000, 100_000])
  func long(count: Int) throws {
    let word = String(repeating: "w", count: count)
    let render = ["render", "--preset", "pair", "a.wav", "b.wav"]
    for words in [
      [word], render + ["--pattern", word], render + ["--gain", word], ["preset", "show", word],
      ["record", word],
      ["run", "--name", word], ["set", "--\(word)"], ["design", "pair", "--sample-rate", word],
      ["device", "new", "ring", "x", "--radius", word], ["run", "--monitor", word],
    ] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 2 || outcome.status == 1, "\(outcome)")
      #expect(
        outcome.isOneSentence && outcome.error.count < 1500 && outcome.error.contains("w…"), "\(outcome)")
    }
    let path = try home.pinna("play", "/" + word)
    #expect(
      path.isOneSentence && path.error.count < 5200 && path.error.contains("pinna takes list"), "\(path)")
  }

  @Test("numbers with units of something else, hexadecimal ones and words are refused with an example")
  func numbers() throws {
    for (words, says) in [
      (["set", "--gain", "0x10"], "the gain \"0x10\" is not usable"),
      (["set", "--gain", "-6Hz"], "such as -6"), (["set", "--gain", "-6 d B"], "such as -6"),
      (["set", "--gain", "0x10dB"], "the gain \"0x10dB\""), (["set", "--gain", "dB"], "such as -6"),
      (["set", "--high-pass", "80dB"], "such as 80"),
      (["set", "--gain", "nan"], "the gain \"nan\""),
      (["set", "--high-pass", "0x50"], "the high-pass \"0x50\""),
      (["device", "new", "ring", "x", "--radius", "0x28"], "--radius 0x28 is not usable"),
      (["device", "new", "box", "x", "--size", "0x48,147,8"], "--size 0x48,147,8 is not usable"),
    ] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains(says), "\(outcome)")
    }
  }

  @Test("a pattern may be called as microphones call it", arguments: ["omni", "OMNI", "omnidirectional"])
  func synonyms(word: String) throws {
    var noise = SeededNoise(seed: 3)
    let input = home.path + "/in.wav"
    try AudioClip(sampleRate: 48000, channels: [noise.samples(480), noise.samples(480)]).write(wav: input)
    let outcome = try home.pinna(
      "render", "--preset", "pair", "--pattern", word, input, home.path + "/out.wav")
    #expect(outcome.status == 0, "\(outcome)")
    for word in ["figure8", "figure-of-eight", "Bidirectional"] {
      let refused = try home.pinna(
        "render", "--preset", "pair", "--pattern", word, input, home.path + "/no.wav")
      #expect(refused.status == 6 && refused.error.contains("does not offer figureEight"), "\(refused)")
    }
  }

  @Test("lists: an option may be repeated, and a comma in a name is escaped")
  func lists() throws {
    try home.home.folder.write(PinnaHome.preset(of: "pair"), to: "config/pinna/other.yaml")
    let bank = try home.pinna("bank", "save", "b", "pair, other,pair", "--json").json()
    #expect(bank["presets"] as? [String] == ["pair", "other", "pair"])
    let escaped = try home.pinna("bank", "save", "c", #"pair,a\,b"#)
    #expect(escaped.status == 1 && escaped.error.contains(#"no preset "a,b""#), "\(escaped)")
    for words in [
      ["--monitor", "a:b,c:d,e:f"], ["--monitor", "a:b", "--monitor", "c:d,e:f"], ["--monitor", "ab"],
    ] {
      let refused = try home.pinna(["run", "--preset", "pair"] + words)
      #expect(refused.status == 2 && refused.error.contains("one or two full JACK port names"), "\(refused)")
    }
    let size = try home.pinna("device", "new", "box", home.path + "/b", "--size", "70,140", "--size", "9")
    #expect(size.status == 0, "\(size)")
    #expect(try String(contentsOfFile: home.path + "/b.yaml", encoding: .utf8).contains("70, 140, 9"))
  }

  @Test("device check reads the measurement that a device file names")
  func measurement() throws {
    let folder = home.home.folder
    // As measured.py has it.
    let device = try folder.write(
      """
      title: Sphere
      body: {sofa: array.sofa}
      microphones: {front: [0, 0, 40], back: [0, 0, -40]}
      dataSources:
        Front: {forward: +z, microphones: all, polarPatterns: [omnidirectional]}

      """, to: "measured/m.yaml")
    try folder.write("not a measurement", to: "measured/array.sofa")
    let refused = try home.pinna("device", "check", device)
    #expect(
      refused.status == 1 && refused.isOneSentence && refused.error.contains("is not a SOFA file"),
      "\(refused)")
    let head = try folder.write(PinnaHome.pair + "hrtf: array.sofa\n", to: "measured/h.yaml")
    #expect(try home.pinna("device", "check", head).status == 1)
    let golden = repositoryFolder + "/Tests/Golden/sphere.sofa"
    try FileManager.default.removeItem(atPath: folder.path + "/measured/array.sofa")
    try FileManager.default.copyItem(atPath: golden, toPath: folder.path + "/measured/array.sofa")
    #expect(try home.pinna("device", "check", device).status == 0)
  }
}
