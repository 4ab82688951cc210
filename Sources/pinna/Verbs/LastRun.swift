import JackClient
import Messages
import Presets
import Processor
import Settings

/// What the last `pinna run` of the same name left.
struct LastRun {
  /// Where this run writes the same; nil if there is no home folder.
  let file: RunMemoryFile?
  private let memory: RunMemory?
  private let arguments: Arguments

  /// A file that cannot be used is said, and ignored.
  /// - Parameter isManaged: whether a session manager keeps settings and connections. Then nothing is read or written.
  init(_ arguments: Arguments, isManaged: Bool) throws {
    self.arguments = arguments
    let path = isManaged ? nil : RunMemoryFile.path(name: arguments.name)
    file = try path.map { try RunMemoryFile(path: $0) }
    if path == nil, !isManaged {
      Tool.complain(
        "connections and setting are not kept for the next run: there is no home folder; set HOME or XDG_STATE_HOME"
      )
    }
    do { memory = try path.flatMap { try RunMemoryFile.read($0) } } catch {
      Tool.complain("\(error)")
      memory = nil
    }
  }

  /// The last run's connections. Leaves out the microphones' if --connect or --connect-from connects them: a microphone
  /// would wait for its last source, or get the sum of both. Leaves out the outputs' if they shall not be connected.
  var connections: [Wiring.Wire] {
    let isMicrophones = arguments.connectWord == "microphones"
    let replaced =
      arguments.has("--connect") && arguments.connectWord != "outputs" || arguments.has("--connect-from")
    return (memory?.connections ?? []).filter {
      if ArrayClient.outputNames.contains($0.port) { return !isMicrophones }
      return $0.port == ArrayClient.controlName || !replaced
    }
  }

  /// The setting to begin with: that of --preset or --device, or with --resume that of the last run; with --seat and the
  /// options that make filters follow the sound.
  func setting(in library: PresetLibrary) throws -> Setting {
    var setting = try withoutOptions(in: library)
    let seats = try Seat.list(arguments.options["--seat"] ?? [])
    if !seats.isEmpty { setting.seats = seats }
    try setting.apply(
      SettingKey.following.compactMap { key in try arguments["--" + key.rawValue].map { try Change(key, $0) }
      })
    return setting
  }

  private func withoutOptions(in library: PresetLibrary) throws -> Setting {
    if arguments.has("--resume"), let last = memory?.setting {
      do { return try last.setting(in: library) } catch {
        Tool.complain("the last setting, preset \(last.preset), cannot be used: \(error)")
      }
    }
    let (preset, device) = try arguments.presetAndDevice(in: library)
    return Setting(preset: preset, device: device)
  }
}
