import Acoustics
import AudioFiles
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
    _ = try setting.device.filterCase(for: setting.selection)
    let input = try InputPath.clip(
      arguments.operands[0],
      "give a sound file with one channel per microphone, or create one with: pinna simulate")
    let device = setting.device
    guard input.channels.count == device.microphones.count else {
      throw Failure(
        .failed,
        "\(arguments.operands[0]) has \(input.channels.count) channels, but \(device.name) has "
          + "\(device.microphones.count) microphones; give a file with one channel per microphone")
    }
    let output = try renderClip(
      input, setting: setting,
      fallbacks: try TakeFallbacks(microphones: arguments.operands[0], setting: setting),
      period: period, instructionSet: instructionSet)
    try output.write(wav: arguments.operands[1])
    let peak = output.channels.joined().map(\.magnitude).max() ?? 0
    if peak > 1 {
      Tool.complain(
        "\(arguments.operands[1]) exceeds full scale (peak \(peak)); the file is float, so nothing is clipped"
      )
    }
    if arguments.isJSON {
      print(
        ([
          "output": arguments.operands[1], "frames": output.frames, "channels": output.channels.count,
          "sampleRate": output.sampleRate, "peak": Double(peak),
        ] as JSONObject).text)
    }
    return .done
  }

  /// Processes `input` with the filters of `setting`.
  /// - Parameter fallbacks: nil repeats none.
  /// - Returns: two channels, left and right, for stereo, one for mono patterns; as long as `input`.
  static func renderClip(
    _ input: AudioClip, setting: Setting, fallbacks: TakeFallbacks? = nil, period: Int,
    instructionSet: InstructionSet = .best
  ) throws -> AudioClip {
    let device = setting.device
    let sets = try FilterSets(
      device: device, sampleRate: input.sampleRate, progress: WorkProgress.designing(device.name))
    let (left, right) = try sets.render(
      input.channels, selection: setting.selection, of: device, gain: setting.gain,
      highPass: setting.highPass,
      substitutions: fallbacks?.substitutions(setting, sampleRate: input.sampleRate) ?? [], period: period,
      instructionSet: instructionSet, progress: WorkProgress.onTerminal("rendering"))
    let isStereo = setting.selection.polarPattern == .stereo
    return AudioClip(sampleRate: input.sampleRate, channels: isStereo ? [left, right] : [left])
  }
}
