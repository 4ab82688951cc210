import Acoustics
import AudioFiles
import Glibc
import JackTools
import Messages
import Presets
import Processor
import Realtime
import Rendering
import Text

extension Verb {
  static let render = Verb(
    name: "render", operands: ["MICS.wav", "OUT.wav"],
    many: ("--takes", "--takes FOLDER [FOLDER …] --into DIR"), takesStandardStreams: true,
    summary:
      "do offline what run does: microphone signals from one file, left and right or B-format to another, .wav, .flac or .opus, B-format also .caf or .amb; - is standard input or output, WAV",
    options: [
      Option("--preset", "NAME", "preset (default: what a take was recorded with, or phone5)"), deviceOption,
      Option("--data-source", "NAME", "data source (default: the preset's)"),
      Option("--pattern", "PATTERN", "polar pattern (default: the preset's)"),
      Option("--orientation", "ORIENTATION", "input orientation (default: the preset's)"),
      Option("--format", "FORMAT", "\(Arguments.ambix): B-format instead of the pattern"), orderOption,
      normalisationOption,
      Option("--gain", "DB", "gain in decibels, from -60 to 24 (default: the preset's)"),
      Option("--high-pass", "HZ|off", "high-pass of the outputs, from 20 to 400 Hz (default: the preset's)"),
      Option("--period", "FRAMES", "period of the engine (default: 1024)"),
      isaOption, hrtfOption,
      Option(
        "--takes", "FOLDER", "render all takes in this folder, in those within it and in further operands"),
      Option("--into", "DIR", "takes: the folder of the outputs; what is complete there is skipped"),
      Option("--jobs", "N", "takes: how many at a time (default: one per core)"),
      Option("--print-jobs", nil, "takes: print a shell command for each instead, for a scheduler"),
      jsonOption,
    ]
  ) { arguments in
    guard !arguments.has("--takes") else { return try RenderBatch(arguments).run() }
    for option in ["--into", "--jobs", "--print-jobs"] where arguments.has(option) {
      throw Failure(.usage, "\(option) needs --takes; add --takes FOLDER, or remove \(option)")
    }
    let (source, path) = (arguments.operands[0], arguments.operands[1])
    let stops = StopCount()
    let ambisonics = try arguments.ambisonicFormat(path: path)
    try OutputPath.check(path, against: source, isAmbisonic: ambisonics != nil)
    if path == StandardStream.word { Output.divert() }
    let pipe = try source == StandardStream.word ? openStandardInput(stops) : nil
    let library = PresetLibrary.standard
    let take = pipe == nil ? TakeMicrophones(source) : nil
    var setting = try Verb.setting(arguments, of: take, pipe, in: library)
    try setting.apply(
      [Change.Key.dataSource, .pattern, .orientation, .gain, .highPass].compactMap { key in
        try arguments["--" + key.rawValue].map { try Change(key, $0) }
      })
    if let pattern = try arguments.onlyAmbisonics() {
      guard !arguments.has("--pattern") else {
        throw Failure(.usage, "--format ambix takes the place of a pattern; leave out --pattern")
      }
      setting.selection = setting.selection.with(pattern, on: setting.device)
      setting.choose(try setting.device.ambisonics(setting.selection))
    }
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? 1024
    let instructionSet = try arguments.instructionSet()
    let device = setting.device
    _ = try device.filterCase(for: setting.selection)
    try take?.check(device)
    let input =
      try pipe.map { try MicrophoneFile($0, of: device) }
      ?? MicrophoneFile(
        source, of: device,
        "give a sound file with one channel per microphone, or create one with: pinna simulate")
    let rate = input.reader.sampleRate
    let channels = setting.selection.polarPattern.outputs
    try OutputPath.check(path, channels: channels, sampleRate: rate)
    let sets = try FilterSets(
      device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
    // The memory of the filters, of a crossfade, and of the lowest high-pass.
    let before = take?.framesBefore(sets.bank.tapCount + rate, period: period) ?? []
    let ahead = before.first?.count ?? 0
    let substitutions = try take?.substitutions(setting, sampleRate: rate, framesBefore: ahead) ?? []
    let output = try RenderedFile(
      path, channels: channels, sampleRate: rate, broadcast: take?.mark(arguments).broadcast,
      ambisonics: ambisonics, stops)
    var first = ahead > 0 ? before : nil
    try output.finish {
      try sets.render(
        selection: setting.selection, of: device, gain: setting.gain, highPass: setting.highPass,
        substitutions: substitutions, framesBefore: ahead, period: period, instructionSet: instructionSet,
        next: {
          defer { first = nil }
          return try first ?? input.next()
        }, write: output.write)
    }
    let remarks = input.remarks + output.remarks
    for remark in remarks { Tool.complain(remark) }
    arguments.print(
      json: [
        "output": path, "frames": output.sound.frames, "channels": channels, "sampleRate": rate,
        "peak": Double(output.sound.peak), "remarks": remarks,
      ] + (ambisonics?.json(setting.selection) ?? [:]),
      text:
        "\(output.sound.sentence)\(ambisonics.map { ", \($0.phrase)" } ?? ""); \(ChangeReport(setting).text)")
    return .done
  }

  private static func openStandardInput(_ stops: StopCount) throws -> AudioFileReader {
    try StandardStream.checkInput()
    return try AudioFileReader(standardInputWhile: { stops.count == 0 })
  }

  /// What to render with: the preset or device that is given, or else what a take was recorded with.
  private static func setting(
    _ arguments: Arguments, of take: TakeMicrophones?, _ pipe: AudioFileReader?, in library: PresetLibrary
  ) throws -> Setting {
    func adapt(_ device: Device) throws -> Device {
      let device = try arguments.withHRTF(device)
      return pipe.map { SimulatedSound.device(device, in: $0) }
        ?? SimulatedSound.device(device, in: arguments.operands[0])
    }
    if let take, !arguments.has("--preset"), !arguments.has("--device") {
      return try take.setting(in: library, adapt)
    }
    let (preset, device) = try arguments.presetAndDevice(in: library)
    return Setting(preset: preset, device: try adapt(device))
  }
}

/// What `pinna render` writes, part by part.
private final class RenderedFile {
  let sound: SoundOutput
  private let ambisonics: AmbisonicFormat?
  private let stops: StopCount

  /// - Parameter stops: counts the signals INT and TERM from here on.
  init(
    _ path: String, channels: Int, sampleRate: Int, broadcast: BroadcastExtension?,
    ambisonics: AmbisonicFormat?, _ stops: StopCount
  ) throws(AudioFileError) {
    let isPiped = path == StandardStream.word
    Signals.onStop {
      stops.next()
      guard isPiped else { return }
      // Nothing is to be removed, and a program that does not read would hold this process up.
      Tool.complain("interrupted; standard output is incomplete")
      Tool.end(ExitStatus.failed.rawValue)
    }
    sound =
      try isPiped
      ? SoundOutput(onStandardOutput: channels, sampleRate: sampleRate)
      // More than two are B-format, whose channels belong to no loudspeakers.
      : SoundOutput(
        path: path, channels: channels, sampleRate: sampleRate, areMicrophones: channels > 2,
        broadcast: broadcast, ambisonics: ambisonics)
    self.ambisonics = ambisonics
    self.stops = stops
  }

  /// Runs `body`, and gives the file its name. After an error or an interruption no file is left.
  func finish(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      sound.abandon()
      throw stops.count == 0 ? error : Self.interruption
    }
    try sound.close()
  }

  private static let interruption = Failure(.failed, "interrupted; nothing was written")

  /// - Parameter outputs: shape `[channel][frame]`. B-format is AmbiX.
  func write(_ outputs: [[Float]]) throws {
    guard stops.count == 0 else { throw Self.interruption }
    let outputs = ambisonics?.channels(of: outputs) ?? outputs
    let count = outputs[0].count
    var frames = [Float](repeating: 0, count: outputs.count * count)
    for (channel, samples) in outputs.enumerated() {
      for n in 0..<count { frames[n * outputs.count + channel] = samples[n] }
    }
    try sound.write(frames)
  }

  var remarks: [String] {
    if sound.clippedSamples > 0 {
      return [
        "\("sample".counted(sound.clippedSamples)) of \(sound.path) clipped; lower --gain, or write .wav, which does not clip"
      ]
    }
    guard sound.peak > 1, sound.compression == nil else { return [] }
    let peak = (200 * log10(Double(sound.peak))).rounded() / 10
    return [
      "\(sound.path) exceeds full scale (peak +\(peak) dBFS); its float samples are not clipped, but other programs may "
        + "clip them"
    ]
  }
}
