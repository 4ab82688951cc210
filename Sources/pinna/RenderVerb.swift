import Acoustics
import AudioFiles
import Control
import Foundation
import Presets
import Realtime
import Rendering

extension Verb {
  static let render = Verb(
    name: "render", operands: ["MICS.wav", "OUT.wav"],
    summary: "the offline twin of run: microphones from a file, left and right into a file",
    options: [
      Option("--preset", "NAME", "preset (default: phone5)"),
      Option("--data-source", "NAME", "instead of the preset's"),
      Option("--pattern", "PATTERN", "instead of the preset's"),
      Option("--orientation", "ORIENTATION", "instead of the preset's"),
      Option("--gain", "DB", "instead of the preset's, from -60 to 24"),
      Option("--period", "FRAMES", "period of the engine (default: 1024)"),
      isaOption, hrtfOption, jsonOption,
    ]
  ) { arguments in
    try OutputPath.check(arguments.operands[1], against: arguments.operands[0])
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments["--preset"] ?? "phone5")
    var setting = Setting(
      preset: preset, device: try arguments.withHRTF(library.device(named: preset.device)))
    try setting.apply(
      ["data-source", "pattern", "orientation", "gain"].compactMap { key in
        arguments["--" + key].map { Change(key, $0) }
      })
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? 1024
    let instructionSet = try arguments.instructionSet()
    _ = try setting.device.filterCase(for: setting.selection)
    try InputPath.check(
      arguments.operands[0],
      "give a sound file with a channel per microphone, or make one with: pinna simulate")
    let input = try AudioClip(path: arguments.operands[0])
    if input.endsEarly {
      Tool.complain("\(arguments.operands[0]) ends early: it holds less than its header promises")
    }
    let device = setting.device
    guard input.channels.count == device.microphones.count else {
      throw Failure(
        .failed,
        "\(arguments.operands[0]) has \(input.channels.count) channels, but \(device.name) has "
          + "\(device.microphones.count) microphones; give a file with one channel per microphone")
    }
    let output = try renderClip(
      input, setting: setting, period: period, instructionSet: instructionSet)
    try output.write(wav: arguments.operands[1])
    let peak = output.channels.joined().map(\.magnitude).max() ?? 0
    if peak > 1 {
      Tool.complain(
        "\(arguments.operands[1]) passes full scale (peak \(peak)); it is float, so nothing is lost")
    }
    if arguments.isJSON {
      let object: JSONObject = [
        "output": arguments.operands[1], "frames": output.frames, "channels": output.channels.count,
        "sampleRate": output.sampleRate, "peak": Double(peak),
      ]
      print(object.text)
    }
    return .done
  }

  /// Left and right, or one channel for mono patterns, as long as the input.
  static func renderClip(
    _ input: AudioClip, setting: Setting, period: Int, instructionSet: InstructionSet = .best
  ) throws -> AudioClip {
    let device = setting.device
    let sets = try FilterSets(
      device: device, sampleRate: input.sampleRate, progress: WorkProgress.designing(device.name))
    let (left, right) = try sets.render(
      input.channels, selection: setting.selection, of: device, gain: setting.gain, period: period,
      instructionSet: instructionSet)
    let isStereo = setting.selection.polarPattern == .stereo
    return AudioClip(sampleRate: input.sampleRate, channels: isStereo ? [left, right] : [left])
  }
}
