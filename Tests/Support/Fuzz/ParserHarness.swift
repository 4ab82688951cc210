import Acoustics
import AudioFiles
import Control
import FilterBanks
import FilterDesign
import Foundation
import Measurements
import Messages
import Plugin
import Presets
import Processor
import Recording
import Simulation
import TestSupport

/// A parser prepared for inputs from the tests and from libFuzzer.
public final class ParserHarness {
  private let parser: FuzzedParser
  private let folder: TemporaryFolder
  private let presets = PresetLibrary(folders: [repositoryFolder + "/Presets"])
  /// Further files for parsers that read more than one.
  private var otherFiles: [String: Data] = [:]

  public init(_ parser: FuzzedParser) throws {
    self.parser = parser
    folder = try TemporaryFolder()
    switch parser {
    // Two microphones, two outputs.
    case .filters:
      var noise = SeededNoise(seed: 15)
      try AudioClip(sampleRate: 48000, channels: (0..<4).map { _ in noise.samples(8, amplitude: 0.5) })
        .write(wav: folder.path + "/four.wav")
    case .take, .sidecar:
      for (name, other) in [("a.wav", FuzzedParser.take), ("a.json", .sidecar)] {
        otherFiles[name + ".part"] = Data(try other.corpus()[0])
      }
    default: break
    }
  }

  /// - Throws: the parser's refusal in its own words, or a `FuzzFinding`.
  public func feed(_ input: [UInt8]) throws {
    switch parser {
    case .device: _ = try DeviceFile.read(YAMLReader(text: Self.text(input), file: "d.yaml"))
    case .preset:
      _ = try PresetFile.read(YAMLReader(text: Self.text(input), file: "p.yaml")) {
        try presets.device(named: $0)
      }
    case .bank: _ = try BankFile.read(YAMLReader(text: Self.text(input), file: "b.yaml"))
    case .controllers: try feedControllers(Self.text(input))
    case .scene:
      _ = try Scene(text: Self.text(input), file: "s.yaml", folder: "/nonexistent", library: presets)
    case .directions:
      _ = try DirectionTable.read(path: try folder.write(Data(input), to: "directions.csv"))
    case .sofa: try feedSofa(input)
    case .filters:
      try folder.write(Data(input), to: "filters.json")
      _ = try FilterBank(folder: folder.path)
    case .plugin: try feedPlugin(input)
    case .sound: try feedSound(try folder.write(Data(input), to: "a.wav"), bytes: input.count)
    case .take: try feedTake(input, as: "a.wav.part")
    case .sidecar: try feedTake(input, as: "a.json.part")
    case .osc: try feedPacket(input)
    case .midi: try MIDIEvents(input).check()
    }
  }

  /// Checks that a controller that is added is read back, and that every motion of every controller sets a word or
  /// nothing.
  private func feedControllers(_ text: String) throws {
    let map = try MIDIMapFile.read(text: text, file: "c.yaml")
    for controller in map.controllers {
      for wire in 0...127 {
        try MIDIEvents.check(
          controller.effect(at: wire, last: 127 - wire, present: "0", dataSources: ["Front"]), controller)
        try MIDIEvents.check(
          controller.effect(clicks: wire - 64, present: "0", dataSources: ["Front"]), controller)
      }
      try MIDIEvents.check(controller.effect(presses: 1, present: "0", dataSources: ["Front"]), controller)
    }
    // One that is free, if any is.
    guard let free = (0...127).first(where: { map.controller(.note($0)) == nil }) else { return }
    let new = MIDIMap.Controller(.note(free), .setting(.mute))
    let longer = try MIDIMapFile.text(adding: new, to: text, file: "c.yaml")
    guard try MIDIMapFile.read(text: longer, file: "c.yaml").controllers.contains(new) else {
      throw FuzzFinding(description: "the added controller is lost")
    }
  }

  /// What is done before libmysofa sees a SOFA file, which has a process of its own. Checks that only its own bytes
  /// change.
  private func feedSofa(_ input: [UInt8]) throws {
    let margin = 64
    var bytes = [UInt8](repeating: 0xA5, count: margin) + input + [UInt8](repeating: 0xA5, count: margin)
    try bytes.withUnsafeMutableBytes { buffer in
      let outline = SofaOutline(
        UnsafeMutableRawBufferPointer(rebasing: buffer[margin..<margin + input.count]))
      outline.simplify()
      try outline.check()
    }
    guard bytes.prefix(margin).allSatisfy({ $0 == 0xA5 }), bytes.suffix(margin).allSatisfy({ $0 == 0xA5 })
    else {
      throw FuzzFinding(description: "bytes beside the file were changed")
    }
  }

  /// What a plug-in does with the filters of its bundle: reads them, and plays a block. The checksum of the input is made right:
  /// a mutation would else never get past it. Checks that what is read is written as it was.
  private func feedPlugin(_ input: [UInt8]) throws {
    let whole = PluginFilters.withChecksum(input)
    guard let filters = PluginFilters(whole) else { throw PluginError("not as Pinna wrote it") }
    let again = PluginFilters(filters.bytes)
    guard again == filters else { throw FuzzFinding(description: "read otherwise than written") }
    // A host has blocks of any length.
    let processor = PluginProcessor(filters)
    processor.activate(blockLength: 64)
    processor.runUnhurried(64)
  }

  private static func text(_ input: [UInt8]) -> String { String(decoding: input, as: UTF8.self) }

  /// Checks that there is no more audio than the file can hold, whatever its header claims. Of the formats
  /// that libsndfile reads, MPEG-2 layers II and III at 8 kbit/s, 24 kHz and two channels yield most samples
  /// per byte: 48. ADPCM decodes its last block whole: 64 KiB of two samples each.
  private func feedSound(_ path: String, bytes: Int) throws {
    let clip = try AudioClip(path: path)
    let samples = clip.channels.count * clip.frames
    guard samples <= 48 * bytes + 2 * 65_536 else {
      throw FuzzFinding(description: "\(samples) samples of \(bytes) bytes")
    }
  }

  /// Lists and repairs an unfinished take, and checks that nothing outside its folder changes.
  private func feedTake(_ input: [UInt8], as name: String) throws {
    let takes = folder.path + "/takes"
    try? FileManager.default.removeItem(atPath: takes)
    for (name, content) in otherFiles { try folder.write(content, to: "takes/" + name) }
    try folder.write(Data(input), to: "takes/" + name)
    let canary = try folder.write(otherFiles["a.wav.part"]!, to: "a.wav.part")
    _ = try JSONEncoder().encode(TakeFolder(path: takes).takes(comparingSound: true))
    if name.hasSuffix(".json.part"), let sidecar = try? Sidecar.read("\(takes)/\(name)") {
      use(sidecar, in: takes + "/")
    }
    let repaired = TakeFolder(path: takes).repair()
    guard
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.wav.part", "takes"],
      try Data(contentsOf: URL(filePath: canary)) == otherFiles["a.wav.part"]
    else { throw FuzzFinding(description: "something changed outside the takes' folder") }
    if let fault = repaired.compactMap(\.fault).first { throw TakeError(fault) }
    guard (try? Sidecar.read(takes + "/a.json")) != nil else { throw TakeError("no sidecar") }
  }

  /// What render computes of a sidecar before it reads sound.
  private func use(_ sidecar: Sidecar, in folder: String) {
    for feed in sidecar.feedNames { _ = try? sidecar.turns(of: feed) }
    for files in sidecar.files.prefix(100) {
      _ = (sidecar.cues(in: files), sidecar.broadcast(of: files), sidecar.fallbacks(from: files.frame))
    }
    _ = sidecar.fault(ofMicrophonesIn: folder)
    _ = sidecar.memory(in: folder)
    _ = try? sidecar.setup.array?.device(named: sidecar.setup.device) { $0.path }
  }

  /// Checks that messages that are read equal those sent, that a bundle is bounded, and that a button acts when it is
  /// pressed and never when it is released.
  private func feedPacket(_ input: [UInt8]) throws {
    let messages = try OSCPacket.messages(in: input).map(\.message)
    guard (1...64).contains(messages.count) else {
      throw FuzzFinding(description: "\(messages.count) messages in a packet")
    }
    for message in messages {
      // Invalid UTF-8 is read as another text, and NaN does not equal itself.
      let isText = !(message.words + [message.path]).joined().unicodeScalars.contains("\u{FFFD}")
      let isNumber = !message.words.contains { $0.lowercased().contains("nan") }
      if isText, isNumber, OSCMessage(packet: message.packet) != message {
        throw FuzzFinding(description: "read otherwise than sent: \(message)")
      }
      if let method = OSCMethod.at(message.path) { try feedButton(message, method) }
    }
  }

  private func feedButton(_ message: OSCMessage, _ method: OSCMethod) throws {
    let (rest, isReleased) = method.button(in: message)
    let isUp =
      switch message.arguments.last {
      case .flag(let isTrue): !isTrue
      case .integer(let number): number <= 0
      case .float(let number): !(number > 0)
      case .string, nil: false
      }
    guard rest.arguments == message.arguments || rest.arguments == message.arguments.dropLast() else {
      // NaN does not equal itself.
      guard message.words.contains("nan") || message.words.contains("-nan") else {
        throw FuzzFinding(description: "a button changed arguments: \(message)")
      }
      return
    }
    // What a method takes, it takes as it stands, unless that is a text.
    let isTaken = method.accepts(message.arguments.count) && message.arguments.count != 1
    guard !isReleased || isUp && !isTaken else {
      throw FuzzFinding(description: "taken for a release: \(message)")
    }
  }
}
