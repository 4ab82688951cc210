import Acoustics
import AudioFiles
import FilterDesign
import FoundationEssentials
import Numerics
import Settings

/// What another program has to know to play the filters of a case, or of all feeds of a preset.
struct ConvolverConfiguration {
  /// One convolution: from a microphone to an output.
  struct Route: Hashable {
    /// Counted from 0.
    let microphone: Int
    /// Counted from 0 in its part.
    let output: Int
    /// Channel of the WAV file, counted from 0.
    let channel: Int
  }

  /// A case that is heard on outputs of its own.
  struct Part {
    /// Of a feed; "main"; nil for a case alone.
    let name: String?
    let filterCase: FilterCase
    /// The names of its outputs: "out_left" and "out_right", or those of a feed's ports.
    let outputs: [String]
    /// The file names of the WAV files: the bank's, then those for other sample rates.
    let wavs: [String]
    /// Length of the filters, which may contain the high-pass.
    let tapCount: Int
    let gain: Decibels
    let highPass: HighPass
    /// The place of its first output among those of all parts.
    let firstOutput: Int
    /// The filters that are not zero everywhere, by output.
    let routes: [Route]

    /// The file name of the bank's WAV file.
    var wav: String { wavs[0] }

    /// The gain as a factor.
    var factor: Float { Float(gain.amplitude) }

    private var words: [String] {
      [filterCase.dataSource, filterCase.polarPattern.phrase + (filterCase.look?.phrase ?? "")]
        + (filterCase.inputOrientation.map { [$0.rawValue] } ?? [])
    }

    /// "anna: Front, cardioid: gain -3.0 dB, high-pass off; out_left, out_right"
    var summary: String {
      (name.map { "\($0): " } ?? "")
        + "\(words.joined(separator: ", ")): gain \(gain.value) dB, high-pass \(highPass.word); "
        + outputs.joined(separator: ", ")
    }
  }

  let device: Device
  /// One for each sample rate.
  let banks: [FilterBank]
  /// The absolute path of the folder that the configuration and the WAV files will be in.
  let folder: String
  let parts: [Part]

  var bank: FilterBank { banks[0] }
  /// Of the WAV files, in hertz.
  var sampleRates: [Int] { banks.map(\.sampleRate) }

  var outputs: [String] { parts.flatMap(\.outputs) }

  var microphones: [String] { device.microphones.map(\.name) }

  func text(for program: ConvolverProgram) -> String {
    switch program {
    case .jconvolver: jconvolver
    case .camilladsp: camillaDSP
    case .pipewire: pipeWire
    case .wireplumber: wirePlumber
    }
  }

  /// The same first lines in every format, without comment signs.
  var heading: [String] {
    [
      "\(device.title) (\(device.name)), \(sampleRates.map(String.init).joined(separator: ", ")) Hz. Written by pinna export. The filters delay by \(bank.delayFrames) frames."
    ] + parts.map(\.summary)
  }

  /// `text` between double quotes, as JSON, YAML and PipeWire's files read it.
  static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: try! encoder.encode(text), as: UTF8.self)
  }
}

extension Taps {
  /// Those of the first `count` outputs whose filters are not zero everywhere.
  fileprivate func routes(outputs count: Int) -> [ConvolverConfiguration.Route] {
    (0..<count).flatMap { output in
      (0..<microphones).filter { self[output, $0].contains { $0 != 0 } }.map {
        ConvolverConfiguration.Route(
          microphone: $0, output: output, channel: output * microphones + $0)
      }
    }
  }
}

extension FilterBank {
  /// The filters that a device made by `Device.ownDevice` has, as those of a look of the whole device.
  /// - Parameter look: nil for B-format.
  public func looking(_ look: Look?) -> FilterBank {
    guard let look else { return self }
    func looking(_ remark: CaseRemark) -> CaseRemark {
      CaseRemark(filterCase: remark.filterCase.looking(look), text: remark.text)
    }
    var bank = self
    bank.cases = cases.map {
      FilterCoefficients(filterCase: $0.filterCase.looking(look), taps: $0.taps, origin: $0.origin)
    }
    bank.refusals = refusals.map(looking)
    bank.weaknesses = weaknesses.map(looking)
    return bank
  }

  /// The same with the cases of another bank of these microphones: those of a look, or of B-format.
  public func adding(_ other: FilterBank) throws(DesignError) -> FilterBank {
    guard other.microphones == microphones, other.sampleRate == sampleRate, other.tapCount == tapCount,
      other.delayFrames == delayFrames
    else {
      throw DesignError(
        "the filters of \(device) for looks and B-format are not like its others; design them again")
    }
    var both = self
    both.cases += other.cases.filter { new in !cases.contains { $0.filterCase == new.filterCase } }
    both.weaknesses += other.weaknesses.filter { !weaknesses.contains($0) }
    return both
  }

  /// The name of the configuration of all feeds.
  public static func feedsName(for program: ConvolverProgram) -> String { "feeds." + program.fileExtension }

  /// Writes what `write(folder:)` writes, and a configuration of `program` for each case beside its WAV file, with the
  /// same name; with feeds, also one of all feeds, `main` included, if the program takes them. Where there is a high-pass
  /// and the program has none, further WAV files have filters that contain it.
  /// - Parameters:
  ///   - device: the device that the bank was designed for.
  ///   - main: what `main` plays; its gain and high-pass are those of every case, too.
  ///   - feeds: besides main. The bank has their cases.
  ///   - folder: where the files are written.
  ///   - destination: the absolute path under which the configurations will find them.
  ///   - others: filters of the same device for other sample rates, for a program that takes several; `filters.json` does
  ///     not describe their files.
  public func write(
    configurationsFor program: ConvolverProgram, of device: Device, main: FeedSetting, feeds: [FeedSetting],
    folder: String,
    destination: String, others: [FilterBank] = []
  ) throws {
    try write(folder: folder, feeds: feeds)
    // Of the case, or of a feed's high-pass; nil where the case is not offered at that rate.
    func other(_ bank: FilterBank, _ filterCase: FilterCase, _ wav: String, _ corner: Hertz?) throws
      -> String?
    {
      guard let taps = bank.coefficients(for: filterCase)?.taps.channels else { return nil }
      let name = "\(wav.dropLast(".wav".count))-\(bank.sampleRate).wav"
      let response = corner.map { HighPassResponse(corner: $0, sampleRate: bank.sampleRate) }
      try AudioClip(
        sampleRate: bank.sampleRate, channels: response.map { taps.map($0.applied) } ?? taps
      ).write(wav: "\(folder)/\(name)")
      return name
    }
    func part(_ name: String?, _ at: Int, _ feed: FeedSetting, _ outputs: [String], from first: Int) throws
      -> ConvolverConfiguration.Part
    {
      var (wav, tapCount, taps) = (fileNames[at], tapCount, cases[at].taps)
      let corner = program.hasHighPass ? nil : feed.highPass.frequency
      if let corner {
        let response = HighPassResponse(corner: corner, sampleRate: sampleRate)
        wav = "\(feed.name == main.name ? String(wav.dropLast(".wav".count)) : feed.name)-high-pass.wav"
        tapCount += response.frames
        let filters = taps.channels.map(response.applied)
        try AudioClip(sampleRate: sampleRate, channels: filters).write(wav: "\(folder)/\(wav)")
      }
      let wavs = try others.compactMap { try other($0, cases[at].filterCase, wav, corner) }
      return ConvolverConfiguration.Part(
        name: name, filterCase: cases[at].filterCase, outputs: outputs, wavs: [wav] + wavs,
        tapCount: tapCount,
        gain: feed.gain, highPass: feed.highPass, firstOutput: first,
        routes: taps.routes(outputs: outputs.count))
    }
    func configure(_ parts: [ConvolverConfiguration.Part], _ name: String) throws {
      let configuration = ConvolverConfiguration(
        device: device, banks: [self] + others, folder: destination, parts: parts)
      try Data(configuration.text(for: program).utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    for at in cases.indices {
      let name = Self.configurationName(fileNames[at], program)
      try configure([part(nil, at, main, Self.outputs(of: cases[at].filterCase), from: 0)], name)
    }
    guard !feeds.isEmpty, program.takesFeeds else { return }
    var parts: [ConvolverConfiguration.Part] = []
    for feed in [main] + feeds {
      guard let at = cases.firstIndex(where: { $0.filterCase == feed.selection.filterCase }) else { continue }
      let isMain = feed.name == main.name
      parts.append(
        try part(
          feed.name, at, feed, isMain ? Self.outputs(of: feed.selection.filterCase) : feed.portNames,
          from: parts.reduce(0) { $0 + $1.outputs.count }))
    }
    try configure(parts, Self.feedsName(for: program))
  }

  /// What a case is heard on by itself: a mono pattern on both outputs.
  private static func outputs(of filterCase: FilterCase) -> [String] {
    let feed = FeedSetting(
      name: "out",
      Selection(
        dataSource: filterCase.dataSource, polarPattern: filterCase.polarPattern,
        inputOrientation: filterCase.inputOrientation ?? .portrait))
    return feed.portNames.count == 1 ? ["out_left", "out_right"] : feed.portNames
  }

  /// The file name of the configuration of `filterCase`; nil if the bank has no such case.
  public func configurationName(of filterCase: FilterCase, for program: ConvolverProgram) -> String? {
    cases.firstIndex { $0.filterCase == filterCase }.map { Self.configurationName(fileNames[$0], program) }
  }

  private static func configurationName(_ wav: String, _ program: ConvolverProgram) -> String {
    wav.dropLast("wav".count) + program.fileExtension
  }
}
