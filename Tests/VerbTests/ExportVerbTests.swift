import Acoustics
import AudioFiles
import FilterBanks
import FilterDesign
import Foundation
import LiveSupport
import Numerics
import Presets
import TestSupport
import Testing

@Suite("pinna export") struct ExportVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  private func export(_ words: String...) throws -> Program.Outcome {
    try home.pinna(
      "export", "--preset", "pair", "--to", "wav", words[0], words.count > 1 ? words[1] : "--json")
  }

  @Test("exported filters are read back bit for bit as they were designed")
  func same() throws {
    let folder = home.path + "/deep/out"
    let outcome = try export(folder)
    #expect(outcome.status == 0, "\(outcome)")
    // As the program does: sums depend on the number of threads in their last bit.
    useSingleThreadedBLAS()
    let device = try DeviceFile.read(YAMLReader(text: PinnaHome.pair, file: "pair.yaml"))
    let bank = try FilterBank.design(device: device, sampleRate: 48000)
    #expect(try FilterBank(folder: folder) == bank)
    #expect(home.contents("deep") == ["out"])
    #expect(home.contents("deep/out").count == 1 + bank.cases.count)
  }

  @Test(
    "a part of the sound, which filters follow, is not exported, and the reason is said",
    arguments: ["part: talkers", "room: -12"])
  func part(line: String) throws {
    _ = try home.home.folder.write(
      "title: Part\ndevice: pair\ndataSource: Front\npolarPattern: stereo\ninputOrientation: portrait\n\(line)\n",
      to: "config/pinna/part.yaml")
    let outcome = try home.pinna("export", "--preset", "part", "--to", "wav", home.path + "/out")
    #expect(
      outcome.status == 2 && outcome.isOneSentence && outcome.error.contains("part of the sound"),
      "\(outcome)")
    #expect(home.contents("out").isEmpty)
  }

  @Test("filters.json has the rate, the microphones in channel order, and a file and a delay per case")
  func description() throws {
    #expect(try export(home.path + "/out").status == 0)
    let data = try Data(contentsOf: URL(filePath: home.path + "/out/filters.json"))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(json["sampleRate"] as? Int == 48000)
    #expect(json["microphones"] as? [String] == ["left-end", "right-end"])
    let cases = try #require(json["cases"] as? [[String: Any]])
    for one in cases {
      #expect(
        Set(one.keys) == ["dataSource", "polarPattern", "inputOrientation", "file", "delayFrames"], "\(one)")
      #expect(one["delayFrames"] as? Int == 64)
      #expect(home.contents("out").contains(one["file"] as? String ?? ""))
    }
    #expect(cases.map { $0["polarPattern"] as? String } == ["omnidirectional", "stereo"])
    #expect(cases.map { $0["inputOrientation"] as? String } == [nil, "portrait"])
  }

  @Test("export refuses a folder that is not empty; --force replaces only the filters in it")
  func occupied() throws {
    let home = try VerbHome(hasFilters: false)
    let folder = home.path + "/out"
    try home.home.folder.write("mine", to: "out/notes.txt")
    let refused = try export(folder)
    #expect(refused.status == 1 && refused.isOneSentence && refused.error.contains("--force"), "\(refused)")
    #expect(home.contents("out") == ["notes.txt"])
    #expect(!FileManager.default.fileExists(atPath: home.cacheFolder))
    for _ in 0..<2 { #expect(try export(folder, "--force").status == 0) }
    #expect(home.contents("out").count == 4)
    #expect(try String(contentsOfFile: folder + "/notes.txt", encoding: .utf8) == "mine")
    #expect(try FilterBank(folder: folder).cases.count == 2)
  }

  @Test("export writes into an empty folder, also through a link")
  func empty() throws {
    try FileManager.default.createDirectory(atPath: home.path + "/empty", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: home.path + "/link", withDestinationPath: home.path + "/empty")
    #expect(try export(home.path + "/link/").status == 0)
    #expect(try FilterBank(folder: home.path + "/empty").cases.count == 2)
    #expect(home.contents("").allSatisfy { !$0.hasSuffix(".part") })
  }

  @Test(
    "every case gets a configuration with the name of its WAV file",
    arguments: [("jconvolver", "conf"), ("pipewire", "conf"), ("camilladsp", "yml")])
  func configurations(format: String, suffix: String) throws {
    let folder = home.path + "/out"
    let outcome = try home.pinna("export", "--preset", "pair", "--to", format, folder)
    #expect(outcome.status == 0 && outcome.output.contains("start the preset's case with: "), "\(outcome)")
    let names = home.contents("out")
    let filters = try FilterBank(folder: folder)
    #expect(names.count == 1 + 2 * filters.cases.count)
    for wav in names where wav.hasSuffix(".wav") {
      #expect(names.contains(wav.dropLast(3) + suffix))
    }
    #expect(try home.pinna("export", "--preset", "pair", "--to", "wav", "--force", folder).status == 0)
    #expect(try FilterBank(folder: folder) == filters)
  }

  @Test(
    "filters for several rates are one file each, all of which every convolver of PipeWire has, with the longest latency"
  )
  func rates() throws {
    try home.home.folder.write(
      "title: Loud\ndevice: pair\ndataSource: Front\npolarPattern: stereo\ninputOrientation: portrait\nhighPass: 80\n",
      to: "config/pinna/loud.yaml")
    let folder = home.path + "/out"
    let outcome = try home.pinna(
      "export", "--preset", "loud", "--to", "pipewire", folder, "--sample-rate", "48000", "--sample-rate",
      "32000")
    #expect(outcome.status == 0 && outcome.output.contains("; one more each for 32000 Hz\n"), "\(outcome)")
    let text = try String(contentsOfFile: folder + "/front-stereo-portrait.conf", encoding: .utf8)
    let files = ["", "-32000"].map { "\(folder)/front-stereo-portrait-high-pass\($0).wav" }
    let convolvers = text.split(separator: "\n").filter { $0.contains("label = convolver") }
    #expect(convolvers.count == 4)
    let plain = try home.pinna(
      "export", "--preset", "pair", "--to", "wav", home.path + "/slow", "--sample-rate", "32000")
    #expect(plain.status == 0, "\(plain)")
    let delays = try [folder, home.path + "/slow"].map {
      let bank = try FilterBank(folder: $0)
      return Double(bank.delayFrames) / Double(bank.sampleRate)
    }
    // In seconds, of which PipeWire cuts off what is less than a frame.
    let latency = String(format: "latency = %.7f ", ((delays.max()! * 1e7).rounded(.down) + 1) / 1e7)
    #expect(delays[0] == 64.0 / 48000 && delays[1] > delays[0])
    for line in convolvers {
      #expect(line.contains("filename = [ \"\(files[0])\" \"\(files[1])\" ]"), "\(line)")
      #expect(line.contains(latency), "\(line)")
    }
    #expect(!text.contains("audio.rate"))
    let slow = try AudioClip(path: home.path + "/slow/front-omnidirectional.wav")
    #expect(try AudioClip(path: folder + "/front-omnidirectional-high-pass-32000.wav").sampleRate == 32000)
    let highPassed = try AudioClip(path: files[1])
    #expect(slow.sampleRate == 32000 && slow.frames < highPassed.frames)
    #expect(try AudioClip(path: files[0]).sampleRate == 48000)
    let refused = try home.pinna(
      "export", "--preset", "loud", "--to", "jconvolver", home.path + "/x", "--sample-rate", "48000",
      "--sample-rate",
      "32000")
    #expect(
      refused.status == 2 && refused.isOneSentence && refused.error.contains("one sample rate"), "\(refused)")
  }

  @Test(
    "what PipeWire makes is a microphone by its properties, with two channels or one, and the first feed first"
  )
  func properties() throws {
    try home.home.folder.write(PresetTexts.table, to: "config/pinna/table.yaml")
    let folder = home.path + "/out"
    let outcome = try home.pinna("export", "--preset", "table", "--to", "pipewire", folder)
    #expect(outcome.status == 0, "\(outcome)")
    let lines = try String(contentsOfFile: folder + "/feeds.conf", encoding: .utf8).split(separator: "\n").map
    {
      $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    func values(_ key: String) -> [String] {
      lines.filter { $0.hasPrefix(key + " = ") }.map { String($0.dropFirst(key.count + 3)) }
    }
    #expect(values("priority.session") == ["2700", "2699", "2698", "2697"])
    #expect(values("device.icon-name") == Array(repeating: "audio-input-microphone", count: 4))
    #expect(values("media.class") == Array(repeating: "Audio/Source", count: 4))
    let microphones = "[ AUX0 AUX1 AUX2 AUX3 ]"
    #expect(
      values("audio.position")
        == ["[ FL FR ]", "[ MONO ]", "[ AUX0 AUX1 AUX2 AUX3 ]", "[ MONO ]"].flatMap { [microphones, $0] })
  }

  @Test(
    "WirePlumber's fragment names the card by what the device file knows, and makes one microphone of it",
    .enabled(if: SPAJSON.isPossible, "spa-json-dump is not installed"))
  func wirePlumber() throws {
    let device = """
      title: Pair "on" a card
      body: {sphere: 80}
      hardware: {usb: ["1234:abcd"], card: [Pair, "A (B) 4.0"], device: 6, channels: 2, rates: [48000]}
      microphones: {left: [-80, 0, 0], right: [80, 0, 0]}
      dataSources: {Front: {forward: +z, microphones: all, polarPatterns: [omnidirectional, stereo]}}
      """
    try home.home.folder.write(device, to: "config/pinna/devices/card.yaml")
    let folder = home.path + "/out"
    let outcome = try home.pinna("export", "--device", "card", "--to", "wireplumber", folder)
    #expect(outcome.status == 0, "\(outcome)")
    let path = folder + "/front-stereo-portrait.conf"
    #expect(
      outcome.output.contains("install -D \(path) ~/.config/wireplumber/wireplumber.conf.d/50-pinna.conf"),
      "\(outcome)")
    let file = try SPAJSON.read(path)
    #expect(Set(file.keys) == ["monitor.alsa.rules", "node.software-dsp.rules", "wireplumber.profiles"])
    #expect(
      file["wireplumber.profiles"] as? [String: [String: String]]
        == ["main": ["pw.node-factory.adapter": "required", "node.software-dsp": "required"]])
    let rules = try #require(file["monitor.alsa.rules"] as? [[String: Any]])
    let cards = try #require(rules[0]["matches"] as? [[String: String]])
    #expect(
      cards == [
        ["media.class": "Audio/Device", "device.vendor.id": "0x1234", "device.product.id": "0xabcd"],
        ["media.class": "Audio/Device", "api.alsa.card.name": "~Pair"],
        ["media.class": "Audio/Device", "api.alsa.card.name": #"~A \(B\) 4\.0"#],
      ])
    let update = try #require((rules[0]["actions"] as? [String: [String: String]])?["update-props"])
    #expect(update == ["device.name": "alsa_card.pinna-card", "device.profile": "pro-audio"])
    let filters = try #require(file["node.software-dsp.rules"] as? [[String: Any]])
    let node = "alsa_input.pinna-card.pro-input-6"
    #expect(filters[0]["matches"] as? [[String: String]] == [["node.name": node]])
    let filter = try #require((filters[0]["actions"] as? [String: [String: Any]])?["create-filter"])
    #expect(filter["hide-parent"] as? Bool == true)
    let chain = try #require(filter["filter-graph"] as? [String: Any])
    let capture = try #require(chain["capture.props"] as? [String: Any])
    #expect(
      capture["target.object"] as? String == node
        && capture["audio.position"] as? [String] == ["AUX0", "AUX1"])
    let playback = try #require(chain["playback.props"] as? [String: Any])
    #expect(playback["node.description"] as? String == "Pair \"on\" a card, stereo")
    #expect(playback["audio.position"] as? [String] == ["FL", "FR"])
    let graph = try #require(chain["filter.graph"] as? [String: Any])
    let nodes = try #require(graph["nodes"] as? [[String: Any]])
    #expect(nodes.count { $0["label"] as? String == "convolver" } == 4)
    for node in nodes {
      guard let file = (node["config"] as? [String: Any])?["filename"] as? String else { continue }
      #expect(FileManager.default.fileExists(atPath: file))
    }
  }

  @Test(
    "without hardware in the device file, WirePlumber has no card to look for; feeds are left out, and that is said"
  )
  func wirePlumberLimits() throws {
    for preset in ["pair", "tetramic"] {
      let refused = try home.pinna("export", "--preset", preset, "--to", "wireplumber", home.path + "/x")
      #expect(
        refused.status == 6 && refused.isOneSentence && refused.error.contains("--to pipewire"), "\(refused)")
      #expect(!home.contents("").contains("x"))
    }
    try home.home.folder.write(
      """
      title: Desk
      device: uma8
      dataSource: Front
      polarPattern: stereo
      inputOrientation: portrait
      feeds: {anna: {polarPattern: cardioid}}
      """, to: "config/pinna/desk.yaml")
    let outcome = try home.pinna("export", "--preset", "desk", "--to", "wireplumber", home.path + "/out")
    #expect(
      outcome.status == 0 && outcome.output.contains("without the feeds anna: WirePlumber makes one"),
      "\(outcome)")
    #expect(!home.contents("out").contains("feeds.conf"))
  }

  static let tableOutputs = [
    "out_left", "out_right", "anna", "room_w", "room_y", "room_z", "room_x", "low",
  ]

  @Test(
    "the feeds of a preset are exported together, and the convolutions of the configuration are what render gives",
    .long
  )
  func feeds() throws {
    let preset = try home.home.folder.write(PresetTexts.table, to: "config/pinna/table.yaml")
    let folder = home.path + "/out"
    let outcome = try home.pinna("export", "--preset", "table", "--to", "jconvolver", folder)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("main, anna, room, low together in feeds.conf"), "\(outcome)")
    #expect(
      outcome.output.hasSuffix("start the preset's feeds with: jconvolver \(folder)/feeds.conf\n"),
      "\(outcome)")
    let lines = try String(contentsOfFile: folder + "/feeds.conf", encoding: .utf8).split(separator: "\n")
      .map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("/output/name") }
        == Self.tableOutputs.enumerated().map { "/output/name \($0 + 1) \"\($1)\"" })
    #expect(lines.contains { $0.hasPrefix("/convolver/new 4 8 ") })
    #expect(
      lines.contains(
        "# The period must be a power of two, 32 to 4096 frames; at 32 it adds 96 frames of delay."))

    let microphones = SeededNoise.channels(4, 3000, amplitude: 0.25, seed: 39)
    try AudioClip(sampleRate: 48000, channels: microphones).write(wav: home.path + "/in.wav")
    let rendered = try home.pinna(
      "render", "--preset", "table", "--feeds", preset, "--into", home.path + "/rendered",
      home.path + "/in.wav")
    #expect(rendered.status == 0, "\(rendered)")
    var outputs = [[Double]](repeating: [Double](repeating: 0, count: 3000), count: 8)
    var clips: [String: AudioClip] = [:]
    for line in lines where line.hasPrefix("/impulse/read") {
      let words = line.split(separator: " ")
      let (input, output) = try (#require(Int(words[1])) - 1, #require(Int(words[2])) - 1)
      let gain = try #require(Float(words[3]))
      let file = String(words[8].dropFirst().dropLast())
      let clip = try clips[file] ?? AudioClip(path: folder + "/" + file)
      clips[file] = clip
      let taps = clip.channels[try #require(Int(words[7])) - 1].map { $0 * gain }
      let part = directConvolution([microphones[input]], [taps])
      outputs[output] = zip(outputs[output], part).map(+)
    }
    var at = 0
    for name in ["main", "anna", "room", "low"] {
      for channel in try AudioClip(path: "\(home.path)/rendered/\(name).wav").channels {
        let level = errorLevel(outputs[at].map { Float($0) }, channel)
        #expect(level < -100, "\(name), output \(at): \(level) dB")
        at += 1
      }
    }
    #expect(at == 8)
  }

  @Test("exported WAV files have those of B-format, and filters.json says which file is each feed's")
  func feedFiles() throws {
    try home.home.folder.write(PresetTexts.table, to: "config/pinna/table.yaml")
    let outcome = try home.pinna("export", "--preset", "table", "--to", "wav", home.path + "/out")
    #expect(
      outcome.status == 0 && outcome.output.contains("the files of the feeds: anna, room, low"), "\(outcome)")
    let data = try Data(contentsOf: URL(filePath: home.path + "/out/filters.json"))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let feeds = try #require(json["feeds"] as? [[String: Any]])
    #expect(feeds.map { $0["name"] as? String } == ["anna", "room", "low"])
    for (feed, channels) in zip(feeds, [8, 16, 8]) {
      let file = try #require(feed["file"] as? String)
      #expect(try AudioClip(path: "\(home.path)/out/\(file)").channels.count == channels, "\(feed)")
    }
    #expect(feeds[1]["outputs"] as? [String] == ["room_w", "room_y", "room_z", "room_x"])
    #expect(feeds[2]["highPassHz"] as? Double == 120 && feeds[0]["gainDB"] as? Double == -3)
    let bank = try FilterBank(folder: home.path + "/out")
    #expect(bank.cases.contains { $0.filterCase.polarPattern == .ambix1 && $0.taps.outputs == 4 })
  }

  @Test(
    "a folder whose name cannot stand between quotes is refused; jconvolver takes an apostrophe for the end of a path",
    arguments: [("pipewire", "a\"b"), ("jconvolver", "a'b")])
  func quotes(program: String, name: String) throws {
    let outcome = try home.pinna("export", "--preset", "pair", "--to", program, home.path + "/" + name)
    #expect(outcome.status == 2 && outcome.isOneSentence && outcome.error.contains("quotes"), "\(outcome)")
    #expect(!home.contents("").contains(name))
  }

  @Test("export names the formats that it can write, and refuses what is not a folder")
  func refusals() throws {
    let file = try home.home.folder.write("text", to: "file")
    for (words, status, word) in [
      (["--to", "flac", home.path + "/x"], Int32(2), "jconvolver"), ([home.path + "/x"], 2, "--to"),
      (["--to", "wav", file], 1, "folder"), (["--to", "wav", "/proc/x"], 1, "/proc/x"),
      (["--to", "wav", "--preset", "nosuch", home.path + "/x"], 1, "phone5"),
      (["--to", "wav", "--sample-rate", "1", home.path + "/x"], 2, "192000"),
    ] {
      let outcome = try Program.run(
        try PinnaHome.binary(), ["export"] + words + (words.contains("nosuch") ? [] : ["--preset", "pair"]),
        environment: home.home.environment)
      #expect(outcome.status == status, "\(words): \(outcome)")
      #expect(outcome.output.isEmpty && outcome.error.contains(word), "\(words): \(outcome)")
      #expect(!FileManager.default.fileExists(atPath: home.path + "/x"))
    }
  }
}
