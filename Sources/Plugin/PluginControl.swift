/// The control ports of a plug-in, in their order after the audio ports: microphones, left and right, outputs of feeds.
public enum PluginControl: Int, CaseIterable, Sendable {
  // What the user sets.
  case dataSource, pattern, orientation, gain, highPass, mute, lock
  // What the host says.
  case freewheeling
  // What the plug-in says.
  case latency, refused, peakLeft, peakRight

  public var isInput: Bool { rawValue < Self.latency.rawValue }
}

/// The settings that the controls of a plug-in stand for.
public struct PluginSetting: BitwiseCopyable, Sendable, Hashable {
  /// Indices among what the plug-in offers.
  public var dataSource = 0
  public var pattern = 0
  public var orientation = 0
  /// In decibels, within `Decibels.outputGains`.
  public var gain = 0.0
  /// Corner in hertz, within `HighPass.range`; 0 for off.
  public var highPass = 0.0
  public var muted = false

  public init() {}
}
