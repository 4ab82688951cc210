import AudioFiles
import FilterBanks
import FilterDesign
import Foundation
import LiveSupport
import Presets
import TestSupport
import Testing

/// CamillaDSP is not in Debian: its file is checked against the documented keys of CamillaDSP 4, none of which may be
/// unknown, and its pipeline is followed here.
@Suite("exports for CamillaDSP") struct CamillaDSPTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// The configuration of the pair's stereo with a gain and a high-pass.
  private func exported(feeds: String = "") throws -> (file: YAMLFields, folder: String) {
    try home.home.folder.write(
      "title: Pair\ndevice: pair\ndataSource: Front\npolarPattern: stereo\ninputOrientation: portrait\ngain: -6\nhighPass: 80\n"
        + feeds,
      to: "config/pinna/loud.yaml")
    let folder = home.path + "/out"
    let outcome = try home.pinna("export", "--preset", "loud", "--to", "camilladsp", folder, "--json")
    try #require(outcome.status == 0, "\(outcome)")
    let path = folder + (feeds.isEmpty ? "/front-stereo-portrait.yml" : "/feeds.yml")
    #expect(try outcome.json()["command"] as? String == "camilladsp \(path)")
    let reader = try YAMLReader(path: path)
    return (try reader.fields(["devices", "filters", "mixers", "pipeline"]), folder)
  }

  private func field(_ fields: YAMLFields, _ key: String) throws -> YAMLReader {
    try fields.required(key, example: "")
  }

  private func integer(_ reader: YAMLReader) throws -> Int { try #require(reader.scalar.flatMap { Int($0) }) }

  @Test(
    "devices have the documented keys, the rate of the filters, and as many channels as the mixers expect")
  func devices() throws {
    let devices = try field(exported().file, "devices").fields([
      "samplerate", "chunksize", "capture", "playback",
    ])
    #expect(try integer(field(devices, "samplerate")) == 48000 && integer(field(devices, "chunksize")) > 0)
    for (key, channels) in [("capture", 2), ("playback", 2)] {
      let device = try field(devices, key).fields(["type", "channels", "device"])
      #expect(try field(device, "type").scalar == "Alsa" && field(device, "device").scalar != nil)
      #expect(try integer(field(device, "channels")) == channels)
    }
  }

  @Test(
    "the array is opened by an entry that can be an ALSA ID, and by default where there is only a part of its name",
    arguments: [
      ("[\"Pair RAW SPK\"]", "default"), ("[\"Pair 2\", PAIR_2]", "hw:PAIR_2,6"),
      ("[sixteen_letters_, \"with-hyphen\"]", "default"), ("[sofhdadsp, sof-hda-dsp]", "hw:sofhdadsp,6"),
    ])
  func card(cards: String, device: String) throws {
    try home.home.folder.write(
      PinnaHome.pair + "\nhardware: {card: \(cards), device: 6, channels: 2, rates: [48000]}\n",
      to: "config/pinna/devices/pair.yaml")
    let capture = try field(
      exported().file.required("devices", example: "").fields([
        "samplerate", "chunksize", "capture", "playback",
      ]), "capture"
    ).fields(["type", "channels", "device"])
    #expect(try field(capture, "device").scalar == device)
  }

  /// A channel between two steps: the impulse response from each capture channel, and the filters behind it.
  private struct Channel {
    var responses: [Int: [Double]] = [:]
    var filters: [String] = []
  }

  private func mixed(_ mixer: YAMLReader, _ channels: [Channel]) throws -> [Channel] {
    let fields = try mixer.fields(["channels", "mapping"])
    let counts = try field(fields, "channels").fields(["in", "out"])
    #expect(try integer(field(counts, "in")) == channels.count)
    var result = [Channel](repeating: Channel(), count: try integer(field(counts, "out")))
    for mapping in try field(fields, "mapping").list() {
      let mapping = try mapping.fields(["dest", "sources"])
      let destination = try integer(field(mapping, "dest"))
      for source in try field(mapping, "sources").list() {
        let source = try source.fields(["channel", "gain"])
        let gain = pow(10, try #require(field(source, "gain").scalar.flatMap { Double($0) }) / 20)
        for (capture, response) in channels[try integer(field(source, "channel"))].responses {
          let scaled = response.map { $0 * gain }
          result[destination].responses[capture] =
            result[destination].responses[capture].map { zip($0, scaled).map(+) } ?? scaled
        }
      }
    }
    return result
  }

  @Test(
    "its pipeline is made of documented steps, and convolves with the exported filters at the preset's gain")
  func pipeline() throws {
    let (file, folder) = try exported()
    let channels = try follow(file, in: folder)
    let bank = try FilterBank(folder: folder)
    let taps = try #require(bank.cases.first { $0.filterCase.polarPattern == .stereo }).taps
    #expect(channels.count == 2)
    for (output, channel) in channels.enumerated() {
      #expect(channel.filters == ["high_pass"])
      try compare(channel, taps[output], gain: -6)
    }
  }

  @Test("feeds follow main in the playback channels, each with its own filters, gain and high-pass")
  func feeds() throws {
    let (file, folder) = try exported(
      feeds: "feeds:\n  omni: {format: mono, gain: -3}\n  wide: {gain: 1, highPass: 100}\n")
    let devices = try field(file, "devices").fields(["samplerate", "chunksize", "capture", "playback"])
    let playback = try field(devices, "playback").fields(["type", "channels", "device"])
    #expect(try integer(field(playback, "channels")) == 5)
    let channels = try follow(file, in: folder)
    let bank = try FilterBank(folder: folder)
    let stereo = try #require(bank.cases.first { $0.filterCase.polarPattern == .stereo }).taps
    let omni = try #require(bank.cases.first { $0.filterCase.polarPattern == .omnidirectional }).taps
    #expect(
      channels.map(\.filters) == [
        ["high_pass_main"], ["high_pass_main"], [], ["high_pass_wide"], ["high_pass_wide"],
      ])
    for (channel, (taps, gain)) in zip(
      channels, [(stereo[0], -6.0), (stereo[1], -6), (omni[0], -3), (stereo[0], 1), (stereo[1], 1)])
    {
      try compare(channel, taps, gain: gain)
    }
  }

  /// - Parameter gain: in decibels.
  private func compare(_ channel: Channel, _ taps: [[Float]], gain: Double) throws {
    for (microphone, filter) in taps.enumerated() where filter.contains(where: { $0 != 0 }) {
      let response = try #require(channel.responses[microphone])
      let error = zip(response, filter).map { abs($0 - Double($1) * pow(10, gain / 20)) }.max()!
      #expect(error < 1e-12, "microphone \(microphone): \(error)")
    }
  }

  /// The playback channels of a configuration, by its pipeline.
  private func follow(_ file: YAMLFields, in folder: String) throws -> [Channel] {
    let filters = Dictionary(
      uniqueKeysWithValues: try field(file, "filters").entries().map {
        ($0.key, try $0.value.fields(["type", "parameters"]))
      })
    let mixers = Dictionary(
      uniqueKeysWithValues: try field(file, "mixers").entries().map { ($0.key, $0.value) })
    // A unit impulse into each capture channel.
    var channels = (0..<2).map { Channel(responses: [$0: [1]]) }
    for step in try field(file, "pipeline").list() {
      let type = try step.entries().first { $0.key == "type" }?.value.scalar
      if type == "Mixer" {
        let name = try #require(field(step.fields(["type", "name"]), "name").scalar)
        channels = try mixed(try #require(mixers[name]), channels)
        continue
      }
      #expect(type == "Filter")
      let fields = try step.fields(["type", "channels", "names"])
      for name in try field(fields, "names").list().map({ try #require($0.scalar) }) {
        let filter = try #require(filters[name])
        for channel in try field(fields, "channels").list().map(integer) {
          channels[channel].filters.append(name)
          guard try field(filter, "type").scalar == "Conv" else { continue }
          let parameters = try field(filter, "parameters").fields(["type", "filename", "channel"])
          #expect(try field(parameters, "type").scalar == "Wav")
          let clip = try AudioClip(path: folder + "/" + (try #require(field(parameters, "filename").scalar)))
          let taps = clip.channels[try integer(field(parameters, "channel"))].map(Double.init)
          channels[channel].responses = channels[channel].responses.mapValues { response in
            #expect(response.count == 1)
            return taps.map { $0 * response[0] }
          }
        }
      }
    }
    for (name, filter) in filters where name.hasPrefix("high_pass") {
      let highPass = try field(filter, "parameters").fields(["type", "freq", "q"])
      let corner = name.hasSuffix("wide") ? "100.0" : "80.0"
      #expect(try field(highPass, "type").scalar == "Highpass" && field(highPass, "freq").scalar == corner)
      #expect(try field(highPass, "q").scalar.flatMap { Double($0) } == 0.5.squareRoot())
    }
    return channels
  }
}
