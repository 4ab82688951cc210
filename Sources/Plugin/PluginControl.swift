/// The control ports of a plug-in, in their order after the audio ports: microphones, left and right, outputs of feeds.
public enum PluginControl: CaseIterable, Sendable {
  // What the user sets.
  case dataSource, pattern, orientation, gain, highPass, mute, lock
  // What the host says.
  case freewheeling
  // What the plug-in says.
  case latency, refused, peakLeft, peakRight

  public var isInput: Bool { place < Self.latency.place }

  /// Its number among them. The realtime checks do not know raw values.
  ///
  /// Thread: any.
  public var place: Int {
    @_noLocks @_noAllocation get {
      switch self {
      case .dataSource: 0
      case .pattern: 1
      case .orientation: 2
      case .gain: 3
      case .highPass: 4
      case .mute: 5
      case .lock: 6
      case .freewheeling: 7
      case .latency: 8
      case .refused: 9
      case .peakLeft: 10
      case .peakRight: 11
      }
    }
  }
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
