import Acoustics

extension Preset {
  /// What is selected on a device without a preset: its first data source; stereo in the first orientation that offers it,
  /// or else the cardioid, or else the first pattern. The preset has the device's name and title.
  public init(of device: Device) {
    let source = device.dataSources[0]
    let patterns = source.polarPatterns
    let pattern = [.stereo, .cardioid].first(where: patterns.contains) ?? patterns[0]
    self.init(
      name: device.name, title: device.title, device: device.name,
      selection: Selection(
        dataSource: source.name, polarPattern: pattern,
        inputOrientation: source.stereoOrientations.first ?? .portrait))
  }
}
