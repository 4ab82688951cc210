import Acoustics
import Settings

/// A named setting: a device, feeds on it, and connections.
public struct Preset: Hashable, Sendable {
  /// The name of the preset file without its extension: "phone5".
  public let name: String
  public let title: String
  /// The name of the device file without its extension.
  public let device: String
  public let main: FeedSetting
  /// The feeds besides `main`. Empty: the preset leaves them alone.
  public let others: [FeedSetting]
  /// Connections that Pinna makes while the preset is in force, in the order of the file. Empty: it leaves connections alone.
  public let connections: [Setting.Connection]
  /// Who sits where.
  public let seats: [Seat]

  public init(
    name: String, title: String, device: String, main: FeedSetting, others: [FeedSetting] = [],
    connections: [Setting.Connection] = [], seats: [Seat] = []
  ) {
    self.seats = seats
    self.name = name
    self.title = title
    self.device = device
    self.main = main
    self.others = others
    self.connections = connections
  }
}

extension Setting {
  public init(preset: Preset, device: Device) {
    self.init(
      preset: preset.name, device: device, feeds: [preset.main] + preset.others,
      connections: preset.connections)
    seats = preset.seats
  }

  /// Reads a preset and its device. Waits for the disk.
  /// - Throws: what is wrong with their files.
  package init(preset name: String, in library: PresetLibrary) throws {
    let preset = try library.preset(named: name)
    self.init(preset: preset, device: try library.device(named: preset.device))
  }
}

extension Preset {
  /// What is selected on a device without a preset: its first data source; stereo in the first orientation that offers it,
  /// or else the cardioid, or else the first pattern. The preset has the device's name and title.
  public init(of device: Device) {
    let source = device.dataSources[0]
    let patterns = source.polarPatterns
    let pattern = [.stereo, .cardioid].first(where: patterns.contains) ?? patterns[0]
    self.init(
      name: device.name, title: device.title, device: device.name,
      main: FeedSetting(
        Selection(
          dataSource: source.name, polarPattern: pattern,
          inputOrientation: source.stereoOrientations.first ?? .portrait)))
  }
}
