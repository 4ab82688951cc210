import Acoustics
import Messages
import Presets
import Processor
import Settings

/// Options that say where a mono pattern looks, for verbs that are about a device's cases.
extension Verb {
  static let lookPatternOption = Option(
    "--pattern", "PATTERN", "the mono pattern of --look (default: the preset's, or cardioid)")
  static let lookSourceOption = Option(
    "--data-source", "NAME", "the data source that --look is seen from (default: the preset's)")
}

extension Arguments {
  /// What looks somewhere: what --look, --pattern and --data-source say, or else the preset. Nil if nothing does: then the
  /// verb is about the device's own cases.
  func look(of preset: Preset, on device: Device) throws -> Selection? {
    var setting = Setting(preset: preset, device: device)
    let keys = [SettingKey.dataSource, .pattern, .look]
    try setting.apply(
      keys.compactMap { key in try self["--" + key.rawValue].map { try Change(key, $0) } })
    if setting.main.selection.effectiveLook != nil { return setting.main.selection }
    guard self["--pattern"] == nil, self["--data-source"] == nil else {
      throw Failure(.usage, "--pattern and --data-source belong to a look; give --look, or leave them out")
    }
    return nil
  }
}
