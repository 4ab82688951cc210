import Acoustics
import AudioFiles
import FilterDesign
import FoundationEssentials
import Glibc

/// What another program has to know to play the filters of one case.
struct ConvolverConfiguration {
  /// One convolution: from a microphone to an output.
  struct Route: Hashable {
    /// Counted from 0.
    let microphone: Int
    /// 0 is left, 1 is right.
    let output: Int
    /// Channel of the WAV file, counted from 0.
    let channel: Int
  }

  static let outputs = ["left", "right"]

  let device: Device
  let bank: FilterBank
  let filterCase: FilterCase
  /// Length of the filters, which may contain the high-pass.
  let tapCount: Int
  /// The absolute path of the folder that the configuration and the WAV file will be in.
  let folder: String
  /// The file name of the WAV file.
  let wav: String
  let gain: Decibels
  let highPass: HighPass
  /// The filters that are not zero everywhere, by output.
  let routes: [Route]

  var microphones: [String] { device.microphones.map(\.name) }

  func text(for program: ConvolverProgram) -> String {
    switch program {
    case .jconvolver: jconvolver
    case .camilladsp: camillaDSP
    case .pipewire: pipeWire
    }
  }

  /// The same first lines in every format, without comment signs.
  var heading: [String] {
    [
      "\(device.title) (\(device.name)): \(filterCase.words.joined(separator: ", ")), \(bank.sampleRate) Hz",
      "Written by pinna export, with a gain of \(gain.value) dB and high-pass \(highPass.word). The filters delay by \(bank.delayFrames) frames.",
    ]
  }

  /// The gain as a factor.
  var factor: Float { Float(gain.amplitude) }

  /// `text` between double quotes, as JSON, YAML and PipeWire's files read it.
  static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: try! encoder.encode(text), as: UTF8.self)
  }
}

extension Taps {
  /// Those whose filters are not zero everywhere.
  fileprivate var routes: [ConvolverConfiguration.Route] {
    (0..<outputs).flatMap { output in
      (0..<microphones).filter { self[output, $0].contains { $0 != 0 } }.map {
        ConvolverConfiguration.Route(microphone: $0, output: output, channel: output * microphones + $0)
      }
    }
  }
}

extension FilterBank {
  /// Writes what `write(folder:)` writes, and a configuration of `program` for each case beside its WAV file, with the
  /// same name. Where there is a high-pass and the program has none, a second WAV file has filters that contain it.
  /// - Parameters:
  ///   - device: the device that the bank was designed for.
  ///   - gain, highPass: of the outputs.
  ///   - folder: where the files are written.
  ///   - destination: the absolute path under which the configurations will find them.
  public func write(
    configurationsFor program: ConvolverProgram, of device: Device, gain: Decibels, highPass: HighPass,
    folder: String, destination: String
  ) throws {
    try write(folder: folder)
    let response = highPass.frequency.map { HighPassResponse(corner: $0, sampleRate: sampleRate) }
    for (coefficients, file) in zip(cases, fileNames) {
      var (wav, tapCount) = (file, tapCount)
      if let response, !program.hasHighPass {
        wav = file.dropLast(".wav".count) + "-high-pass.wav"
        tapCount += response.frames
        let filters = coefficients.taps.channels.map(response.applied)
        try AudioClip(sampleRate: sampleRate, channels: filters).write(wav: "\(folder)/\(wav)")
      }
      let configuration = ConvolverConfiguration(
        device: device, bank: self, filterCase: coefficients.filterCase, tapCount: tapCount,
        folder: destination, wav: wav, gain: gain, highPass: highPass, routes: coefficients.taps.routes)
      let path = "\(folder)/\(Self.configurationName(file, program))"
      try Data(configuration.text(for: program).utf8).write(to: URL(fileURLWithPath: path))
    }
  }

  /// The file name of the configuration of `filterCase`; nil if the bank has no such case.
  public func configurationName(of filterCase: FilterCase, for program: ConvolverProgram) -> String? {
    cases.firstIndex { $0.filterCase == filterCase }.map { Self.configurationName(fileNames[$0], program) }
  }

  private static func configurationName(_ wav: String, _ program: ConvolverProgram) -> String {
    wav.dropLast("wav".count) + program.fileExtension
  }
}
