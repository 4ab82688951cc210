import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna design") struct DesignVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome(hasFilters: false) }

  @Test(
    "design makes all filter sets of a file at every requested rate, and then finds them in the cache",
    .nightly)
  func file() throws {
    let file = try home.home.folder.write(PinnaHome.pair, to: "elsewhere/bar.yaml")
    let rates = ["--sample-rate", "16000", "--sample-rate", "48000"]
    let first = try home.pinna("design", file, rates[0], rates[1], rates[2], rates[3], "--json").json()
    #expect(Set(first.keys) == ["device", "designs"])
    #expect(first["device"] as? String == "bar")
    let designs = try #require(first["designs"] as? [[String: Any]])
    #expect(designs.map { $0["sampleRate"] as? Int } == [16000, 48000])
    #expect(designs.map { $0["cases"] as? Int } == [2, 2])
    // 8⌈32·fs/48000⌉ taps, 64·fs/48000 frames of delay.
    #expect(designs.map { $0["taps"] as? Int } == [88, 256])
    #expect(designs.map { $0["delayFrames"] as? Int } == [21, 64])
    #expect(designs.allSatisfy { $0["fromCache"] as? Bool == false })
    let again = try home.pinna("design", file, "--json")
    let kept = try #require(try again.json()["designs"] as? [[String: Any]])
    #expect(kept.count == 1 && kept[0]["fromCache"] as? Bool == true)
    #expect(again.error.isEmpty)
  }

  @Test("design finds a library device by its name, and prints plain lines to a pipe")
  func name() throws {
    let outcome = try home.pinna("design", "PAIR")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.hasPrefix("pair: 2 cases at 48000 Hz designed in "))
    #expect(outcome.error.hasPrefix("pinna: designing the filters of pair at 48000 Hz\n"))
    #expect(!(outcome.error + outcome.output).contains { $0 == "\u{1b}" || $0 == "\r" })
    #expect(home.contents("cache/pinna/filters").count == 2)
  }

  @Test("design says why filters are not in the cache, and no verb promises to store them there", .nightly)
  func notStored() throws {
    try home.home.folder.write("a file", to: "cache/pinna/filters")
    let text = try home.pinna("design", "pair")
    #expect(text.status == 0 && !text.output.contains("and stored in the cache"), "\(text)")
    #expect(
      text.output.contains(
        "but not stored in the cache \(home.cacheFolder)/pinna, so that they are designed each time: "))
    let design = try #require(
      try home.pinna("design", "pair", "--json").json()["designs"] as? [[String: Any]])[0]
    #expect(design["notStored"] is String && design["fromCache"] as? Bool == false)
    let nowhere = try home.pinna(
      "export", "--preset", "pair", "--to", "wav", home.path + "/out",
      environment: ["XDG_CACHE_HOME": "/dev/null/none"])
    #expect(nowhere.status == 0 && !nowhere.error.contains("stored"), "\(nowhere)")
  }

  @Test("design caches filters under its HOME if XDG_CACHE_HOME is relative")
  func cacheOfAnotherHome() throws {
    let environment = ["HOME": home.path + "/somebody", "XDG_CACHE_HOME": "cache"]
    #expect(try home.pinna("design", "pair", environment: environment).status == 0)
    #expect(home.contents("somebody/.cache/pinna/filters").count == 2)
  }

  @Test("design reports the cases that are not offered with the reason, and offers the others")
  func refusals() throws {
    // With the left edge up, both microphones are on the listener's vertical axis: there is no left and
    // right.
    let text = PinnaHome.pair.replacing("[portrait]", with: "[portrait, landscapeLeft]")
    let file = try home.home.folder.write(text, to: "elsewhere/bar.yaml")
    let outcome = try home.pinna("design", file, "--json")
    let design = try #require(try outcome.json()["designs"] as? [[String: Any]])[0]
    #expect(design["cases"] as? Int == 2)
    let refused = try #require(design["notOffered"] as? [[String: Any]])
    #expect(refused.count == 1)
    #expect(Set(refused[0].keys) == ["dataSource", "polarPattern", "inputOrientation", "reason"])
    #expect(refused[0]["inputOrientation"] as? String == "landscapeLeft")
    #expect((refused[0]["reason"] as? String)?.contains("0.0 dB") == true, "\(refused)")
    let words = try home.pinna("design", file).output
    #expect(words.contains("not offered: Front, stereo, landscapeLeft: "), "\(words)")
    #expect(words.contains("to use it, put \(file) into \(home.home.configFolder)/pinna/devices"), "\(words)")
  }

  @Test(
    "design uses the head that --hrtf or the device file names: ears in front and behind allow no stereo",
    .long)
  func listener() throws {
    let head = repositoryFolder + "/Tests/Golden/sphere.sofa"
    let file = try home.home.folder.write(PinnaHome.pair + "hrtf: \(head)\n", to: "elsewhere/bar.yaml")
    func refused(_ outcome: Program.Outcome) throws -> [String] {
      let designs = try #require(try outcome.json()["designs"] as? [[String: Any]], "\(outcome)")
      let refused = try #require(designs[0]["notOffered"] as? [[String: Any]])
      return refused.compactMap { $0["polarPattern"] as? String }
    }
    #expect(try refused(home.pinna("design", "pair", "--json")).isEmpty)
    #expect(try refused(home.pinna("design", "pair", "--hrtf", head, "--json")) == ["stereo"])
    #expect(try refused(home.pinna("design", file, "--json")) == ["stereo"])
  }

  @Test("design refuses a missing HRTF file, or one without a head, in one sentence, and writes nothing")
  func noListener() throws {
    let text = try home.home.folder.write("no head", to: "elsewhere/head.sofa")
    for path in ["/nowhere/head.sofa", text, repositoryFolder + "/Tests/Golden/turned.sofa"] {
      let outcome = try home.pinna("design", "pair", "--hrtf", path)
      #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
      let sentences = outcome.error.split(separator: "\n").filter { !$0.contains("designing") }
      #expect(sentences.count == 1 && sentences[0].contains(path), "\(outcome)")
    }
    #expect(home.contents("cache/pinna/filters").isEmpty)
  }

  @Test("the file that PINNA_DESIGN names overrides design parameters, for tools/tune")
  func overrides() throws {
    let home = try VerbHome(hasFilters: false)
    let path = try home.home.folder.write("grid: {tapCount: 512}\n", to: "design.yaml")
    let outcome = try home.pinna("bench", "--preset", "phone5", environment: ["PINNA_DESIGN": path])
    #expect(outcome.output.hasPrefix("5 microphones × 512 taps"), "\(outcome)")
    let refusal = try home.pinna("bench", environment: ["PINNA_DESIGN": home.path + "/none.yaml"])
    #expect(refusal.status == 1 && refusal.isOneSentence && refusal.error.contains("none.yaml"), "\(refusal)")
  }

  @Test("design draws a progress bar on a terminal, without colour if NO_COLOR is set")
  func bar() throws {
    let plain = try home.onTerminal("design pair", environment: ["NO_COLOR": "1"])
    #expect(
      plain.output.contains("\r") && plain.output.contains("█") && plain.output.contains(" 100 %"), "\(plain)"
    )
    #expect(!plain.output.contains("\u{1b}"))
    let coloured = try home.onTerminal("design pair --sample-rate 16000")
    #expect(coloured.output.contains("\u{1b}["))
  }

  @Test(
    "design reports a mistake with its place in one sentence and status 1, and writes nothing",
    arguments: [
      ("[-80, 0, 0]", "[-80, 0]", 4, "three"),
      ("forward: +z", "forward: up", 8, "+z"),
      ("{sphere: 80}", "{box: [72, 147]}", 2, "three"),
      ("stereo]", "banana]", 10, "cardioid"),
      ("    microphones: all", "    microphones: [left-end, middle]", 9, "right-end"),
      ("  Front:", "  Front: {}\n  Rear:", 7, "forward"),
    ])
  func mistakes(old: String, new: String, line: Int, word: String) throws {
    let file = try home.home.folder.write(PinnaHome.pair.replacing(old, with: new), to: "elsewhere/bar.yaml")
    let outcome = try home.pinna("design", file)
    #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
    #expect(outcome.error.contains("\(file):\(line):"), "\(outcome)")
    #expect(outcome.error.contains(word), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: home.cacheFolder))
  }

  @Test("design names the existing devices if there is none of that name and no such file")
  func missing() throws {
    for word in ["nosuch", "nosuch.yaml", "no/such"] {
      let outcome = try home.pinna("design", word)
      #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
      #expect(outcome.error.contains("phone5") && outcome.error.contains(word))
    }
    let outcome = try home.pinna("design", "pair", "--sample-rate", "7999")
    #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
  }
}
