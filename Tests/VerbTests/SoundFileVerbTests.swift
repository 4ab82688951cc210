import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("Verbs that read sound") struct SoundFileVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// Two microphones of a card with five channels: on 4 and 2.
  private static let onCard = """
    format: 2
    title: Two microphones on a card
    body: {sphere: 80}
    hardware: {card: [five], channels: 5, rates: [48000]}
    microphones:
      left-end: {position: [-80, 0, 0], channel: 4}
      right-end: {position: [80, 0, 0], channel: 2}
    dataSources:
      Front: {forward: +z, microphones: all, polarPatterns: [omnidirectional]}

    """

  private static let (frames, noise) = (VerbHome.frames, VerbHome.noise)

  private func write(_ channels: [[Float]], to name: String) throws -> String {
    let path = home.path + "/" + name
    try AudioClip(sampleRate: 48000, channels: channels).write(wav: path)
    return path
  }

  private func write(_ sound: StatedSound, to name: String) throws -> String {
    try home.home.folder.write(Data(sound.bytes(VerbHome.samples, channels: 2)), to: name)
  }

  // MARK: B-format

  @Test(
    "render writes a channel for each of B-format, refuses what the array cannot do, and says what was wrong")
  func bFormat() throws {
    let (input, output) = (try write(Self.noise, to: "in.wav"), home.path + "/b.wav")
    func render(_ words: String...) throws -> Program.Outcome {
      try home.pinna(["render", "--force", "--preset", "pair"] + words + [input, output])
    }
    #expect(try render("--format", "ambix").status == 0)
    let clip = try AudioClip(path: output)
    // Two microphones at a head's sides hear left and right: W and Y. Z and X are silence.
    #expect(clip.channels.count == 4 && clip.frames == Self.frames)
    #expect(clip.channels.map { $0.contains { $0 != 0 } } == [true, true, false, false])
    #expect(try render("--format", "ambix", "--order", "2").status == 6)
    #expect(try render("--order", "1").status == 2)
    #expect(try render("--format", "ambix", "--pattern", "stereo").status == 2)
    #expect(try render("--format", "fuma").status == 2)
  }

  @Test("B-format of an order that needs more microphones is refused before anything is designed")
  func order() throws {
    let silence = [[Float]](repeating: [Float](repeating: 0.1, count: 480), count: 4)
    let input = try write(silence, to: "four.wav")
    let outcome = try home.pinna(
      "render", "--device", "tetra", "--format", "ambix", "--order", "2", input, home.path + "/b.wav")
    #expect(outcome.status == 6 && outcome.error.contains("needs at least 5 microphones"), "\(outcome)")
    #expect(!outcome.error.contains("designing"), "\(outcome)")
  }

  // MARK: Words

  @Test(
    "files of feeds and of automation take the words of presets and of commands; --format flac is that of record start"
  )
  func words() throws {
    let input = try write(Self.noise, to: "in.wav")
    let feeds = try home.home.folder.write(
      """
      feeds:
        anna: {data-source: Front, pattern: omnidirectional, gain: -3dB, high-pass: 80 Hz}
        ben: {dataSource: Front, polarPattern: omnidirectional, gain: -3, highPass: 80}
      """, to: "feeds.yaml")
    func render(_ words: String...) throws -> Program.Outcome {
      try home.pinna(["render", "--preset", "pair"] + words)
    }
    for (options, ending) in [(["--format", "flac"], "flac"), (["--format", "float"], "wav"), ([], "wav")] {
      let folder = home.path + "/out" + options.joined()
      let outcome = try home.pinna(
        ["render", "--preset", "pair", "--feeds", feeds, "--into", folder] + options + [input])
      #expect(outcome.status == 0, "\(outcome)")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names == ["anna", "ben", "main"].map { "\($0).\(ending)" })
      let clips = try ["anna", "ben"].map { try AudioClip(path: "\(folder)/\($0).\(ending)") }
      #expect(clips[0].channels == clips[1].channels && clips[0].frames == Self.frames)
    }
    var outputs: [[[Float]]] = []
    for (n, text) in [
      "- {at: 0.1, gain: -6dB, high-pass: 100, orientation: portrait}",
      "- {at: 0.1, gain: -6, highPass: 100 Hz, inputOrientation: portrait}",
    ].enumerated() {
      let file = try home.home.folder.write(text, to: "a\(n).yaml")
      let output = home.path + "/a\(n).wav"
      let outcome = try render("--automation", file, input, output)
      #expect(outcome.status == 0, "\(outcome)")
      outputs.append(try AudioClip(path: output).channels)
    }
    #expect(outputs[0] == outputs[1])
    let twice = try home.home.folder.write("- {at: 0.1, pattern: stereo, polarPattern: stereo}", to: "t.yaml")
    let refused = try render("--automation", twice, input, home.path + "/t.wav")
    #expect(refused.status != 0 && refused.error.contains("twice"), "\(refused)")
    for (name, words) in [
      ("out.txt", []), ("out.md", []), ("out.7", []), ("out.mp3", []), ("out.wav", ["--format", "flac"]),
      ("out.flac", ["--format", "tape"]),
    ] {
      let outcome = try home.pinna(["render", "--preset", "pair"] + words + [input, home.path + "/" + name])
      #expect(
        outcome.status == 2 && !FileManager.default.fileExists(atPath: home.path + "/" + name), "\(outcome)")
    }
    #expect(try render("--format", "flac", input, home.path + "/out.flac").status == 0)
  }

  // MARK: Headers

  @Test("R47: render uses all the sound that is there, whatever its header says, and says so")
  func headers() throws {
    let whole = home.path + "/whole.wav"
    #expect(try home.pinna("render", "--preset", "pair", write(Self.noise, to: "in.wav"), whole).status == 0)
    let expected = try AudioClip(path: whole).channels
    let wrong: [StatedSound] = [
      StatedSound(.wav, .bytes(0)), StatedSound(.wav, .bytes(4000)), StatedSound(.wav, .open),
      StatedSound(.rf64, .bytes(0)), StatedSound(.w64, .bytes(4000)), StatedSound(.caf, .open),
      StatedSound(.aiff, .bytes(4000)), StatedSound(.au, .bytes(4000)),
    ]
    var kept = 0
    for (n, sound) in wrong.enumerated() {
      let input = try write(sound, to: "\(n).\(sound.container)")
      let output = home.path + "/\(n)-out.wav"
      let outcome = try home.pinna("render", "--preset", "pair", "--json", input, output)
      let document = try outcome.json()
      let isSaid = outcome.error.contains("20000") && outcome.error.contains(input)
      let isWhole =
        try AudioClip(path: output).channels == expected && document["frames"] as? Int == Self.frames
      #expect(outcome.status == 0 && isSaid && isWhole, "\(sound): \(outcome)")
      #expect((document["remarks"] as? [String])?.count == 1, "\(outcome)")
      if isSaid, isWhole { kept += 1 }
    }
    Faults.report(
      "R47", done: "files with wrong headers rendered whole, with a word", measured: "\(kept)",
      limit: "\(wrong.count)", kept: kept == wrong.count, isWhole: false)
  }

  @Test("R47: a file without frames is an error in every verb that needs sound, and nothing is written")
  func empty() throws {
    let empty = try write([[], []], to: "empty.wav")
    let flac = try home.home.folder.write(Data("fLaC".utf8), to: "empty.flac")
    let scene = try home.home.folder.write(
      "title: S\ndevice: pair\ntalkers:\n  - {voice: empty.wav, direction: [1, 0, 0]}\n", to: "scene.yaml")
    let output = home.path + "/out.wav"
    for words in [
      ["render", "--preset", "pair", empty, output], ["array", "check", "--device", "pair", empty],
      ["array", "calibrate", "--yes", "--device", "pair", empty], ["simulate", scene, output],
      ["render", "--preset", "pair", flac, output],
    ] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("empty"), "\(outcome)")
      #expect(access(output, F_OK) != 0 && access(output + ".part", F_OK) != 0)
    }
  }

  @Test("R47: array check and simulate say what a header says wrongly")
  func otherVerbs() throws {
    let input = try write(StatedSound(.wav, .bytes(4000)), to: "short.wav")
    let check = try home.pinna("array", "check", "--device", "pair", input)
    // 0.4 s are too short to judge; the header's 1000 frames would be, too.
    #expect(check.status == 1 && check.error.contains("shorter than 1 s"), "\(check)")
    let scene = try home.home.folder.write(
      "title: S\ndevice: pair\ntalkers:\n  - {voice: short.wav, direction: [1, 0, 0]}\n", to: "scene.yaml")
    let output = home.path + "/out.wav"
    let simulated = try home.pinna("simulate", scene, output)
    #expect(
      simulated.status == 0 && simulated.error.contains("says 1000 frames, but 20000 are there"),
      "\(simulated)")
    #expect(try AudioClip(path: output).frames >= Self.frames)
  }

  // MARK: Channels

  @Test("all verbs take one channel per microphone or all channels of the product, and refuse others alike")
  func productChannels() throws {
    try home.home.add(Self.onCard, named: "card")
    let silence = [Float](repeating: 0, count: Self.frames)
    let alone = try write(Self.noise, to: "alone.wav")
    let all = try write([silence, Self.noise[1], silence, Self.noise[0], silence], to: "all.wav")
    let three = try write([silence, silence, silence], to: "three.wav")
    var outputs: [[[Float]]] = []
    for input in [alone, all] {
      let output = home.path + "/out.wav"
      let outcome = try home.pinna("render", "--force", "--preset", "card", input, output)
      #expect(outcome.status == 0, "\(outcome)")
      outputs.append(try AudioClip(path: output).channels)
    }
    #expect(outputs[0] == outputs[1] && outputs[0][0].contains { abs($0) > 0.1 })
    for words in [
      ["render", "--preset", "card", three, home.path + "/no.wav"],
      ["array", "check", "--device", "card", three],
      ["array", "calibrate", "--yes", "--device", "card", three],
    ] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
      #expect(
        outcome.error.contains("has 3 channels, but card has 2 microphones")
          && outcome.error.contains("or the 5 channels of the product"), "\(outcome)")
    }
  }

  @Test("render says when microphones are silent and other channels of the product are not")
  func shifted() throws {
    try home.home.add(Self.onCard, named: "card")
    let silence = [Float](repeating: 0, count: Self.frames)
    // One channel late: on 5 and 3.
    let late = try write([silence, silence, Self.noise[1], silence, Self.noise[0]], to: "late.wav")
    let outcome = try home.pinna("render", "--preset", "card", late, home.path + "/out.wav")
    #expect(outcome.status == 0 && outcome.error.contains("shifted by 1 channel"), "\(outcome)")
    #expect(outcome.error.contains("start the capture again"), "\(outcome)")
  }

  /// Six microphones on a ring, on these channels of a card with eight.
  private static func hat(_ channels: [Int]) -> String {
    let places = (0..<6).map { n in
      let angle = Double(n) * .pi / 3
      return
        "  ring-\(n + 1): {position: [\(46 * cos(angle)), \(46 * sin(angle)), 0], channel: \(channels[n])}\n"
    }
    return """
      format: 2
      title: Six microphones on a card with eight channels
      placement: table
      body: free
      hardware: {card: [eight], channels: 8, rates: [48000]}
      microphones:
      \(places.joined())
      dataSources:
        Front: {forward: +y, microphones: [ring-1], polarPatterns: [omnidirectional]}

      """
  }

  @Test(
    "products with spare channels are rendered by their channel numbers, and the check says what each channel carries",
    arguments: [
      "uma8": Array(1...7), "last": Array(1...6), "first": Array(3...8), "middle": [1, 2, 3, 6, 7, 8],
      "mixed": [5, 7, 8, 1, 3, 2],
    ])
  func spareChannels(name: String, channels: [Int]) throws {
    if name != "uma8" { try home.home.add(Self.hat(channels), named: name) }
    // A wave along +y: each microphone hears it later than the one before.
    var noise = SeededNoise(seed: 8)
    let sound = noise.samples(3 * 48000, amplitude: 0.2)
    let microphones = channels.indices.map { n in [Float](repeating: 0, count: n) + sound.dropLast(n) }
    let loopback = noise.samples(sound.count, amplitude: 1e-3)
    var all = [[Float]](repeating: loopback, count: 8)
    for (channel, signal) in zip(channels, microphones) { all[channel - 1] = signal }
    let (alone, product) = (try write(microphones, to: "alone.wav"), try write(all, to: "all.wav"))
    var outputs: [[[Float]]] = []
    for input in [alone, product] {
      let output = home.path + "/out.wav"
      let outcome = try home.pinna(
        "render", "--force", "--device", name, "--pattern", "omnidirectional", input, output)
      #expect(outcome.status == 0, "\(outcome)")
      outputs.append(try AudioClip(path: output).channels)
    }
    #expect(outputs[0] == outputs[1])
    let check = try home.pinna("array", "check", "--device", name, "--json", product)
    let listed = try #require(try check.json()["channels"] as? [[String: Any]], "\(check)")
    let names = try #require(try check.json()["microphones"] as? [[String: Any]]).map {
      $0["name"] as? String
    }
    #expect(listed.map { $0["channel"] as? Int } == Array(1...8))
    #expect(channels.map { listed[$0 - 1]["microphone"] as? String } == names)
    #expect(listed.count { $0["microphone"] == nil || $0["microphone"] is NSNull } == 8 - channels.count)
    let spare = try #require((1...8).first { !channels.contains($0) })
    let text = try home.pinna("array", "check", "--device", name, product)
    #expect(text.output.contains("\(spare) spare (-6"), "\(text)")
    #expect(text.output.contains("\(channels[0]) \(names[0] ?? "")"), "\(text)")
  }

  @Test("B-format that says so is refused by render and by the check")
  func ambisonics() throws {
    let layout = StatedSound.joined(
      StatedSound.text("chan"), StatedSound.big(12, 8), StatedSound.big(190 << 16 | 4, 4),
      StatedSound.big(0, 8))
    let samples = [Int16](repeating: 100, count: 4 * 48000)
    let caf = try home.home.folder.write(
      Data(StatedSound(.caf, .right, behind: layout).bytes(samples, channels: 4)), to: "ambix.caf")
    let wav = try home.home.folder.write(Data(Self.ambisonicWAV(samples)), to: "b-format.wav")
    for words in [
      ["render", "--preset", "tetramic", caf, home.path + "/out.wav"],
      ["render", "--preset", "tetramic", wav, home.path + "/out.wav"],
      ["array", "check", "--device", "tetramic", caf], ["array", "check", "--device", "tetramic", wav],
      ["array", "calibrate", "--device", "tetramic", "--yes", wav],
    ] {
      let outcome = try home.pinna(words)
      #expect(
        outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("B-format"), "\(outcome)")
    }
    let piped = try home.shell("$PINNA render --preset tetramic - out.wav <b-format.wav")
    #expect(piped.status == 1 && piped.isOneSentence && piped.error.contains("B-format"), "\(piped)")
    #expect(!home.contents(".").contains { $0.hasPrefix("out") })
  }

  /// Four channels at 48 kHz, as the header of a .amb file names them.
  private static func ambisonicWAV(_ samples: [Int16]) -> [UInt8] {
    let (little, text) = (StatedSound.little, StatedSound.text)
    let format =
      little(0xFFFE, 2) + little(4, 2) + little(48000, 4) + little(384_000, 4) + little(8, 2) + little(16, 2)
      + little(22, 2) + little(16, 2) + little(0, 4) + little(1, 4) + little(0x0721, 2) + little(0x11D3, 2)
      + [0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0]
    return StatedSound.joined(
      text("RIFF"), little(60 + 2 * samples.count, 4), text("WAVEfmt "), little(40, 4), format, text("data"),
      little(2 * samples.count, 4), samples.flatMap { little(Int($0), 2) })
  }

  // MARK: Invalid samples

  @Test("render names the microphone with invalid samples, and the output is finite")
  func invalid() throws {
    for (value, count) in [(Float.nan, 1), (.infinity, 3), (-1e20, 2)] as [(Float, Int)] {
      var channels = Self.noise
      for n in 0..<count { channels[1][4800 + 100 * n] = value }
      let output = home.path + "/out.wav"
      let outcome = try home.pinna(
        "render", "--force", "--preset", "pair", write(channels, to: "in.wav"), output)
      #expect(
        outcome.status == 0 && outcome.error.contains("right-end has \(count) invalid sample"), "\(outcome)")
      #expect(outcome.error.contains("first at 0.1 s") && !outcome.error.contains("left-end"), "\(outcome)")
      let rendered = try AudioClip(path: output).channels
      #expect(rendered.joined().allSatisfy { $0.magnitude < 10 })
      let piped = try home.shell("$PINNA render --force --preset pair - piped.wav <in.wav")
      let isNamed = piped.error.contains("right-end has \(count) invalid sample")
      #expect(piped.status == 0 && isNamed, "\(piped)")
      #expect(try AudioClip(path: home.path + "/piped.wav").channels == rendered)
    }
  }

  // MARK: Standard input and output

  @Test("- is refused as a file in every verb but render, and makes none of that name")
  func dash() throws {
    let input = try write(Self.noise, to: "in.wav")
    let scene = try home.home.folder.write("title: S\n", to: "scene.yaml")
    for words in [
      ["render", "--device", "-", input, home.path + "/out.wav"], ["simulate", "-", home.path + "/out.wav"],
      ["simulate", scene, "-"], ["array", "check", "--device", "pair", "-"],
      ["array", "calibrate", "--device", "pair", "--yes", "-"], ["array", "check", "--device=-", input],
      ["export", "--to", "wav", "-"], ["report", "--preset", "pair", "--plots", "-"],
      ["doctor", "--report", "-"],
      ["takes", "list", "--dir", "-"], ["takes", "repair", "--dir=-"], ["device", "check", "-"],
      ["play", "-"],
      ["demo", "--keep", "-"],
    ] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(words): \(outcome)")
      #expect(
        outcome.error.contains("standard input or output") && outcome.error.contains("./-"), "\(outcome)")
    }
    #expect(access("-", F_OK) != 0 && access("-.part", F_OK) != 0)
  }

  // MARK: Memory

  /// The most memory that a program has had in kB, shortly before it ends.
  private func peak(_ words: String...) throws -> (kilobytes: Int, outcome: Program.Outcome) {
    let program = try Program(try PinnaHome.binary(), words, environment: home.environment)
    var peak = 0
    while program.isRunning {
      peak = max(peak, (try? program.mostMemory()) ?? 0)
      usleep(1000)
    }
    return (peak, try #require(program.wait(seconds: 1)))
  }

  @Test("R49: render and the check of an array take no more memory for a longer file")
  func memory() throws {
    let (input, bytes) = try home.longFile()
    let (short, output) = (try write(Self.noise, to: "in.wav"), home.path + "/out.wav")
    // The first one designs the filters.
    #expect(try home.pinna("render", "--force", "--preset", "pair", short, output).status == 0)
    // Of so short a run, a look may see only the beginning: of several, the last one counts.
    let least = try (0..<5).map { _ in
      try peak("render", "--force", "--preset", "pair", short, output).kilobytes
    }
    .max()!
    let rendered = try peak("render", "--force", "--preset", "pair", "--json", input, output)
    #expect(try rendered.outcome.json()["frames"] as? Int == bytes / 4, "\(rendered.outcome)")
    #expect(rendered.kilobytes < least + 30_000, "\(rendered.kilobytes) and \(least) kB")
    let checked = try peak("array", "check", "--device", "pair", input)
    #expect(checked.outcome.error.contains("only these are judged"), "\(checked.outcome)")
    let megabytes = max(rendered.kilobytes, checked.kilobytes) / 1000
    #expect(megabytes <= 200)
    Faults.report(
      "R49", done: "render and array check of a file of \(bytes / 1_000_000) MB: memory at most",
      measured: "\(megabytes) MB", limit: "≤ 200 MB", kept: megabytes <= 200)
  }
}
