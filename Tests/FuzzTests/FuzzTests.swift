import Acoustics
import AudioFiles
import Control
import FilterDesign
import Foundation
import Recording
import Session
import Simulation
import TestSupport
import Testing

/// Every parser of what others write, fed with good inputs that were made bad by chance. A few thousand each in
/// `make test`; `make fuzz` takes longer, other seeds, and AddressSanitizer.
@Suite("Made bad by chance,") struct FuzzTests {
  /// What is asked for in thousands, and the seed.
  static let thousands = Faults.number("PINNA_FUZZ", quick: 2, heavy: 20)
  static let seed = UInt64(Faults.number("PINNA_FUZZ_SEED", quick: 1, heavy: 1))
  /// Whether this build carries AddressSanitizer, which ends the program at its first report.
  static let isSanitized = dlsym(nil, "__asan_init") != nil
  static let presets = PresetLibrary(folders: [repositoryFolder + "/Presets"])

  static func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }

  static func file(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: repositoryFolder + "/" + path)))
  }

  /// The slowest refusal, of up to three attempts at each: other programs use the machine, too.
  struct Verdict {
    var read = 0
    var refused = 0
    var slowest = Duration.zero
    var slowestInput: [UInt8] = []
    let limit: Duration

    init(limit: Duration = .milliseconds(50)) { self.limit = limit }

    /// - Parameter attempt: its error has to be one sentence on one line.
    mutating func judge(_ input: [UInt8], _ attempt: () throws -> Void) {
      var quickest = Duration.seconds(100)
      var complaint: String?
      for _ in 0..<3 where quickest > limit {
        let start = ContinuousClock.now
        complaint = nil
        do { try attempt() } catch { complaint = String(describing: error) }
        quickest = min(quickest, .now - start)
      }
      guard let complaint else {
        read += 1
        return
      }
      refused += 1
      if quickest > slowest { (slowest, slowestInput) = (quickest, input) }
      #expect(
        !complaint.isEmpty && complaint.count < 1000 && !complaint.contains { $0.isNewline }, "\(complaint)")
    }

    func report(_ promise: String, _ what: String) {
      #expect(refused > 0 && read + refused > 0)
      #expect(slowest <= limit, "\(slowest) for \(String(decoding: slowestInput, as: UTF8.self))")
      Faults.report(
        promise, done: "\(read + refused) \(what), \(refused) refused: slowest", took: slowest,
        limit: limit)
    }
  }

  static let yamlWords = bytes([
    "&a ", "*a", "!!t ", "1e308", "-1e308", ".nan", "nan", "inf", "[", "{", "]", "}", "\n---\n", "- ", ": ",
    "\t",
    "\"", "\\", "\u{85}", "...", "all", "free", "sphere", "box", "0x10", "? ", "|\n", ">\n", "#", "\r\n",
    "  ",
  ])

  @Test(
    "R15: devices, presets and scenes are read or refused in one line within 50 ms",
    arguments: ["device", "preset", "scene"])
  func descriptions(kind: String) throws {
    let names = Self.presets.presetNames()
    let corpus: [[UInt8]]
    switch kind {
    case "device": corpus = try Self.presets.deviceNames().map { try Self.file("Presets/devices/\($0).yaml") }
    case "preset": corpus = try names.map { try Self.file("Presets/\($0).yaml") }
    default:
      corpus = Self.bytes([
        "title: One\ndevice: linear8\ntalkers:\n  - {voice: noise, direction: [1, 0, 0], seconds: 0.01}\n",
        "title: Two\ndevice: phone5\nfacing: {dataSource: Back, inputOrientation: portrait}\ntalkers:\n"
          + "  - {voice: noise, azimuth: -30, elevation: 10, start: 1.2, gain: -6, seconds: 0.01}\n"
          + "  - {voice: noise, from: left, seconds: 0.01}\n",
        "title: Three\ndevice: ring7\nfacing: {dataSource: Front, inputOrientation: portrait}\n"
          + "room: {size: [6, 4.5, 2.7], device: [3, 2.2, 0.8], absorption: 0.4, order: 2}\n"
          + "noise: {diffuse: -60, sensor: -75}\ntalkers:\n"
          + "  - voice: noise\n    seconds: 0.01\n"
          + "    path: [{at: 0, position: [1, 1, 0]}, {at: 4, position: [1.5, -1, 0.5]}]\n",
      ])
    }
    var mutation = Mutation(seed: Self.seed, corpus: corpus, words: Self.yamlWords)
    var verdict = Verdict()
    for _ in 0..<Int(1000 * Self.thousands) {
      let input = mutation.next()
      let text = String(decoding: input, as: UTF8.self)
      verdict.judge(input) {
        switch kind {
        case "device": _ = try DeviceFile.read(text: text, name: "d", file: "d.yaml")
        case "preset":
          _ = try PresetFile.read(text: text, name: "p", file: "p.yaml") {
            try Self.presets.device(named: $0)
          }
        default: _ = try Scene(text: text, file: "s.yaml", folder: "/nonexistent", library: Self.presets)
        }
      }
    }
    verdict.report("R15", "mutated \(kind) files")
  }

  @Test("R16: filters.json is read or refused in one line within 50 ms")
  func filterFolders() throws {
    let folder = try TemporaryFolder()
    let device = TestDevices.phone5(body: .free)
    let taps = [[[Float]]](
      repeating: [[Float]](repeating: [Float](repeating: 0.1, count: 8), count: device.microphones.count),
      count: 2)
    let bank = FilterBank(
      device: device.name, sampleRate: 48000, microphones: device.microphones.map(\.name), delayFrames: 4,
      tapCount: 8,
      cases: device.filterCases.map { FilterCoefficients(filterCase: $0, taps: taps) })
    try bank.write(folder: folder.path)
    let path = folder.path + "/filters.json"
    let good = Array(try Data(contentsOf: URL(filePath: path)))
    var mutation = Mutation(
      seed: Self.seed, corpus: [good],
      words: Self.bytes([
        "null", "1e999", "-1", "9999999999999999999", "[", "{", "]", "}", "\"", "\\u0000", "../", "true",
      ]))
    var verdict = Verdict()
    for _ in 0..<Int(200 * Self.thousands) {
      let input = mutation.next()
      try Data(input).write(to: URL(filePath: path))
      verdict.judge(input) { _ = try FilterBank(folder: folder.path) }
    }
    verdict.report("R16", "mutated filters.json")
  }

  @Test("R16: sound files are read or refused in one line within 50 ms", arguments: ["WAV", "PCM", "RF64"])
  func soundFiles(format: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.wav"
    var noise = SeededNoise(seed: 16)
    let channels = (0..<3).map { _ in noise.samples(200, amplitude: 0.5) }
    if format == "WAV" {
      try AudioClip(sampleRate: 48000, channels: channels).write(wav: path)
    } else if format == "RF64" {
      try Data(Self.rf64(channels)).write(to: URL(filePath: path))
    } else {
      let writer = try AudioFileWriter(path: path, encoding: .pcm24, channels: 3, sampleRate: 48000)
      try channels.joined().map { $0 }.withUnsafeBufferPointer { try writer.write($0) }
      try writer.close()
    }
    let good = Array(try Data(contentsOf: URL(filePath: path)))
    #expect(try AudioClip(path: path).frames == 200)
    let words = Self.bytes(["RIFF", "RF64", "ds64", "fmt ", "data", "LIST", "PEAK", "fact", "bext", "WAVE"])
    var mutation = Mutation(seed: Self.seed, corpus: [good, Array(good.prefix(80))], words: words)
    var verdict = Verdict()
    for _ in 0..<Int(500 * Self.thousands) {
      // Half of them in the header, where it hurts.
      let input = mutation.next()
      try Data(input).write(to: URL(filePath: path))
      verdict.judge(input) {
        let clip = try AudioClip(path: path)
        // No more than the file can hold, whatever its header claims. Of what libsndfile reads, MPEG-2 layers II and
        // III at 8 kbit/s, 24 kHz and two channels make most of a byte: 48 samples. ADPCM decodes its last block whole:
        // 64 KiB of two samples each.
        let samples = clip.channels.count * clip.frames
        #expect(samples <= 48 * input.count + 2 * 65_536, "\(samples) of \(input.count) bytes")
      }
    }
    verdict.report("R16", "mutated \(format) files")
  }

  @Test(
    "R16: SOFA files are read or refused in one line, by a process with limits of its own",
    .enabled(if: !isSanitized, "AddressSanitizer does not start within the reader's limit of memory"))
  func sofaFiles() throws {
    let corpus = try ["sphere", "turned"].map { try Self.file("Tests/Golden/\($0).sofa") }
    let words = Self.bytes([
      "TREE", "HEAP", "SNOD", "OHDR", "FRHP", "FADB", "BTHD", "GCOL", "Data.IR", "DIMENSION_LIST", "FIR", "M",
      "R",
    ])
    var mutation = Mutation(seed: Self.seed, corpus: corpus, words: words)
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.sofa"
    let positions: [Position] = [[0, 0, 0.03], [0.02, 0, 0], [-0.01, 0.025, -0.01]]
    // The reader's limit is 2 s of processor time.
    var verdict = Verdict(limit: Faults.patience(.milliseconds(2500)))
    for _ in 0..<Int(50 * Self.thousands) {
      let input = mutation.next()
      try Data(input).write(to: URL(filePath: path))
      verdict.judge(input) { _ = try MeasuredManifold(.sofa(path: path), positions: positions) }
    }
    verdict.report("R16", "mutated SOFA files")
  }

  /// What a take past 4 GiB looks like (EBU Tech 3306), with less sound in it.
  static func rf64(_ channels: [[Float]]) -> [UInt8] {
    func little<Number: FixedWidthInteger>(_ values: Number...) -> [UInt8] {
      values.flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    }
    let (width, frames) = (UInt16(4 * channels.count), channels[0].count)
    let sound = (0..<frames).flatMap { n in channels.flatMap { little($0[n].bitPattern) } }
    let format: [[UInt8]] = [
      Array("fmt ".utf8), little(16 as UInt32), little(3 as UInt16, UInt16(channels.count)),
      little(48_000 as UInt32, 48_000 * UInt32(width)), little(width, 32 as UInt16),
    ]
    let sizes = little(UInt64(72 + sound.count), UInt64(sound.count), UInt64(frames)) + little(0 as UInt32)
    let parts: [[UInt8]] = [
      Array("RF64".utf8), little(UInt32.max), Array("WAVEds64".utf8), little(28 as UInt32), sizes,
      Array(format.joined()), Array("data".utf8), little(UInt32.max), sound,
    ]
    return Array(parts.joined())
  }

  @Test(
    "R16: what a crash left of a take is listed and repaired, or refused in one line within 50 ms, and nothing outside its folder changes",
    arguments: [".wav.part", ".json.part"])
  func cutTakes(ending: String) throws {
    let outer = try TemporaryFolder()
    let folder = outer.path + "/takes"
    var noise = SeededNoise(seed: 17)
    try AudioClip(sampleRate: 48000, channels: (0..<2).map { _ in noise.samples(200, amplitude: 0.5) })
      .write(wav: outer.path + "/a.wav")
    let setup = TakeSetup(
      preset: "p", device: "d", dataSource: "Back", polarPattern: "stereo", inputOrientation: "portrait",
      layout: nil, gainDB: 0, muted: false, microphones: ["a", "b"], latencyFrames: 0)
    let words = try JSONEncoder().encode(setup)
    let sidecar =
      #"{"files":[{"frame":0,"frames":0,"outputs":"a.wav"}],"frames":0,"sampleRate":48000,"channels":2,"#
      + #""format":"float","state":"recording","preRollFrames":0,"gaps":[],"pauses":[],"events":[],"#
      + #""clippedSamples":0,"silencedSamples":0,"notes":[],"missing":[],"setup":"#
      + String(decoding: words, as: UTF8.self) + "}"
    let sound = try Data(contentsOf: URL(filePath: outer.path + "/a.wav"))
    try outer.write(sound, to: "a.wav.part")
    let good = ending == ".wav.part" ? Array(sound) : Array(sidecar.utf8)
    var mutation = Mutation(
      seed: Self.seed, corpus: [good],
      words: Self.bytes([
        "RIFF", "RF64", "data", "../", "\\u0000", "/", "-1", "9999999999999999999", "null", "[]",
      ]))
    // Repair waits for the disk.
    var verdict = Verdict(limit: Faults.patience(.milliseconds(50)))
    for _ in 0..<Int(100 * Self.thousands) {
      let input = mutation.next()
      verdict.judge(input) {
        try? FileManager.default.removeItem(atPath: folder)
        try outer.write(sound, to: "takes/a.wav.part")
        try outer.write(sidecar, to: "takes/a.json.part")
        try outer.write(Data(input), to: "takes/a" + ending)
        _ = try JSONEncoder().encode(TakeFolder(path: folder).takes())
        if let fault = TakeFolder(path: folder).repair().compactMap(\.fault).first { throw TakeError(fault) }
        guard (try? Sidecar.read(folder + "/a.json")) != nil else { throw TakeError("no sidecar") }
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: outer.path).sorted() == [
        "a.wav", "a.wav.part", "takes",
      ])
    #expect(try Data(contentsOf: URL(filePath: outer.path + "/a.wav.part")) == sound)
    verdict.report("R16", "mutated \(ending) files")
  }

  @Test("R17: OSC packets are read or dropped, and what is read is what was sent")
  func packets() {
    let corpus = [
      OSCMessage("/pinna/status"), OSCMessage("/pinna/set/gain", [.float(-3.5)]),
      OSCMessage("/pinna/set", [.string("pattern"), .string("stereo"), .string("gain"), .integer(3)]),
      OSCMessage("/pinna/record/start", [.string("/tmp/a folder")]),
    ].map(\.packet)
    var mutation = Mutation(
      seed: Self.seed, corpus: corpus,
      words: Self.bytes([",", ",s\0\0", ",sss", ",iiif", "/", "#bundle\0", "\0\0\0\0", "[", "b", "T"]))
    let total = Int(Faults.number("PINNA_FAULT_OSC", quick: 1000 * Self.thousands * 10, heavy: 1_000_000))
    var read = 0
    for _ in 0..<total {
      let packet = mutation.next()
      guard let message = OSCMessage(packet: packet) else { continue }
      read += 1
      // What is no UTF-8 reads as another text; all else comes out as it went in.
      let again = OSCMessage(packet: message.packet)
      let isText = !message.words.joined().unicodeScalars.contains("\u{FFFD}")
      if isText, !message.words.contains("nan") { #expect(again == message, "\(packet)") }
    }
    #expect(read > total / 100 && read < total)
    Faults.report(
      "R17", done: "\(total) mutated packets\(Self.isSanitized ? " under ASan" : "")",
      measured: "\(total - read) dropped, \(read) read", limit: "no report", kept: true,
      isWhole: Self.isSanitized && total >= 10_000_000)
  }
}
