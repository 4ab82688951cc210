import Acoustics
import AudioFiles
import JackTools
import Messages
import Presets
import Processor
import Realtime
import Rendering

extension Verb {
  static let render = Verb(
    name: "render", operands: ["MICS.wav", "OUT.wav"],
    summary: "do offline what run does: microphone signals from one file, left and right to another",
    options: [
      Option("--preset", "NAME", "preset (default: phone5)"), deviceOption,
      Option("--data-source", "NAME", "data source (default: the preset's)"),
      Option("--pattern", "PATTERN", "polar pattern (default: the preset's)"),
      Option("--orientation", "ORIENTATION", "input orientation (default: the preset's)"),
      Option("--gain", "DB", "gain in decibels, from -60 to 24 (default: the preset's)"),
      Option("--high-pass", "HZ|off", "high-pass of the outputs, from 20 to 400 Hz (default: the preset's)"),
      Option("--period", "FRAMES", "period of the engine (default: 1024)"),
      isaOption, hrtfOption, jsonOption,
    ]
  ) { arguments in
    try OutputPath.check(arguments.operands[1], against: arguments.operands[0])
    let library = PresetLibrary.standard
    let (preset, plain) = try arguments.presetAndDevice(in: library)
    var setting = Setting(preset: preset, device: try arguments.withHRTF(plain))
    try setting.apply(
      [Change.Key.dataSource, .pattern, .orientation, .gain, .highPass].compactMap { key in
        try arguments["--" + key.rawValue].map { try Change(key, $0) }
      })
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? 1024
    let instructionSet = try arguments.instructionSet()
    let device = setting.device
    _ = try device.filterCase(for: setting.selection)
    let input = try MicrophoneFile(
      arguments.operands[0], of: device,
      "give a sound file with one channel per microphone, or create one with: pinna simulate")
    let fallbacks = try TakeFallbacks(microphones: arguments.operands[0], setting: setting)
    let sets = try FilterSets(
      device: device, sampleRate: input.reader.sampleRate, progress: WorkProgress.designing(device.name))
    let substitutions = try fallbacks.substitutions(setting, sampleRate: input.reader.sampleRate)
    let isStereo = setting.selection.polarPattern == .stereo
    let output = try RenderedFile(
      arguments.operands[1], channels: isStereo ? 2 : 1, sampleRate: input.reader.sampleRate)
    try output.finish {
      try sets.render(
        selection: setting.selection, of: device, gain: setting.gain, highPass: setting.highPass,
        substitutions: substitutions, period: period, instructionSet: instructionSet, next: input.next,
        write: output.write)
    }
    let remarks = input.remarks + output.remarks
    for remark in remarks { Tool.complain(remark) }
    if arguments.isJSON {
      print(
        ([
          "output": arguments.operands[1], "frames": output.frames, "channels": isStereo ? 2 : 1,
          "sampleRate": input.reader.sampleRate, "peak": Double(output.peak), "remarks": remarks,
        ] as JSONObject).text)
    }
    return .done
  }
}

/// What `pinna render` writes, part by part.
private final class RenderedFile {
  private let writer: AudioFileWriter
  private let stops = StopCount()
  private(set) var peak: Float = 0
  var frames: Int { writer.framesWritten }

  init(_ path: String, channels: Int, sampleRate: Int) throws(AudioFileError) {
    writer = try AudioFileWriter(path: path, channels: channels, sampleRate: sampleRate)
    Signals.onStop { [stops] in stops.next() }
  }

  /// Runs `body`, and gives the file its name. After an error or an interruption no file is left.
  func finish(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      writer.abandon()
      throw error
    }
    try writer.close()
  }

  func write(_ left: [Float], _ right: [Float]) throws {
    guard stops.count == 0 else { throw Failure(.failed, "interrupted; nothing was written") }
    var frames = left
    if writer.channels == 2 {
      frames = [Float](repeating: 0, count: 2 * left.count)
      for n in left.indices { (frames[2 * n], frames[2 * n + 1]) = (left[n], right[n]) }
    }
    peak = frames.reduce(peak) { max($0, $1.magnitude) }
    try writer.write(frames)
  }

  var remarks: [String] {
    peak > 1
      ? ["\(writer.path) exceeds full scale (peak \(peak)); the file is float, so nothing is clipped"] : []
  }
}
