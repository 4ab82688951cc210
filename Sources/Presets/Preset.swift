import Acoustics

/// A named setting: a device, a selection on it, an output gain, a high-pass, feeds, and connections.
public struct Preset: Hashable, Sendable {
  /// The name of the preset file without its extension: "phone5".
  public let name: String
  public let title: String
  /// The name of the device file without its extension.
  public let device: String
  public let selection: Selection
  public let gain: Decibels
  public let highPass: HighPass
  /// How far the filters of stereo follow the sound, 0…1.
  public let adaptation: Double
  /// The feeds besides `main`. Empty: the preset leaves them alone.
  public let feeds: [Feed]
  /// Connections that Pinna makes while the preset is in force, in the order of the file. Empty: it leaves connections alone.
  public let connections: [Connection]

  /// A connection in the JACK graph.
  public struct Connection: Hashable, Sendable {
    /// A microphone, one of `DescriptionName.ownPorts`, or an output of a feed.
    public let port: String
    /// Full name of another client's port: "system:capture_1".
    public let peer: String
    public init(port: String, peer: String) { (self.port, self.peer) = (port, peer) }
  }

  public init(
    name: String, title: String, device: String, selection: Selection, gain: Decibels = Decibels(0),
    highPass: HighPass = .off, adaptation: Double = 0, feeds: [Feed] = [], connections: [Connection] = []
  ) {
    self.name = name
    self.title = title
    self.device = device
    self.selection = selection
    self.gain = gain
    self.highPass = highPass
    self.adaptation = adaptation
    self.feeds = feeds
    self.connections = connections
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
      selection: Selection(
        dataSource: source.name, polarPattern: pattern,
        inputOrientation: source.stereoOrientations.first ?? .portrait))
  }
}
