import Acoustics
import Detection
import Messages
import Presets

extension Verb {
  static let deviceOption = Option(
    "--device", "DEVICE", "a device without a preset: its name, its file, or auto for the only one plugged in"
  )
}

extension Arguments {
  /// The preset of --preset with its device, or the device of --device with what is selected on it at first.
  /// - Throws: a usage failure if both are given.
  func presetAndDevice(in library: PresetLibrary) throws -> (preset: Preset, device: Device) {
    guard let given = self["--device"] else {
      let preset = try library.preset(named: self["--preset"] ?? "phone5")
      return (preset, try library.device(named: preset.device))
    }
    guard self["--preset"] == nil else {
      throw Failure(
        .usage, "--preset and --device exclude each other, because a preset names its device; give one")
    }
    let device =
      given == "auto"
      ? try Verb.detectedCards(in: library).onlyDevice() : try Verb.device(given, in: library)
    return (Preset(of: device), device)
  }
}
