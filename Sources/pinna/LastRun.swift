import Control
import Foundation
import JackClient
import Presets

/// What the last `pinna run` of the same name left.
struct LastRun {
  /// Where this run writes the same; nil if there is no home folder.
  let file: RunMemoryFile?
  private let memory: RunMemory?
  private let arguments: Arguments

  /// A file that cannot be used is said, and ignored.
  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    let path = RunMemoryFile.path(name: arguments.name)
    file = try path.map { try RunMemoryFile(path: $0) }
    do { memory = try path.flatMap { try RunMemoryFile.read($0) } } catch {
      Tool.complain("\(error)")
      memory = nil
    }
  }

  var connections: [Wiring.Wire] { memory?.wires ?? [] }

  /// The setting to begin with: that of --preset or --device, or with --resume that of the last run.
  func setting(in library: PresetLibrary) throws -> Setting {
    if arguments.has("--resume"), let last = memory?.setting {
      do { return try Self.setting(of: last, in: library) } catch {
        Tool.complain("the last setting, preset \(last.preset), cannot be used: \(error)")
      }
    }
    let (preset, device) = try arguments.presetAndDevice(in: library)
    return Setting(preset: preset, device: device)
  }

  private static func setting(of last: RunMemory.LastSetting, in library: PresetLibrary) throws -> Setting {
    // A run with --device is named after the device.
    let preset: Preset
    if last.preset != last.device, let known = try? library.preset(named: last.preset) {
      preset = known
    } else {
      preset = Preset(of: try library.device(named: last.device))
    }
    var setting = Setting(preset: preset, device: try library.device(named: preset.device))
    try setting.apply(last.changes)
    _ = try setting.device.filterCase(for: setting.selection)
    return setting
  }
}
