import Acoustics

// Aliases of types from other modules, so that a program imports PinnaSession only.

/// omnidirectional, subcardioid, cardioid, supercardioid, hypercardioid, figureEight, stereo.
public typealias PolarPattern = Acoustics.PolarPattern
/// How the device is held: portrait, portraitUpsideDown, landscapeLeft, landscapeRight.
public typealias InputOrientation = Acoustics.InputOrientation
/// The edges of the device that are left and right.
public typealias StereoLayout = Acoustics.StereoLayout
public typealias DeviceEdge = Acoustics.DeviceEdge
/// builtInMic, headsetMic, usbAudio, lineIn …
public typealias PortType = Acoustics.PortType
/// The position of a data source on the device: upper, lower.
public typealias Location = DataSource.Location
/// The direction in which a data source looks: top, bottom, front, back, left, right.
public typealias Orientation = DataSource.Orientation

extension AudioSession {
  /// The purpose of a session. Capturing requires `record` or `playAndRecord` (S1).
  public enum Category: String, Sendable, CaseIterable {
    case playback, record, playAndRecord

    public var captures: Bool { self != .playback }
    public var plays: Bool { self != .record }
  }

  /// The purpose of capturing. The mode selects a data source unless one is preferred (S16).
  public enum Mode: String, Sendable, CaseIterable {
    /// Selects the bottom data source, for a person who speaks into the device; so do `voiceChat` and `measurement`.
    case `default`
    case voiceChat
    /// Selects the data source that looks where the back camera does, with a directional pattern if there is one.
    case videoRecording
    /// A single microphone without beamforming.
    case measurement
  }

  public struct CategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The session does not claim the route. Other sessions may change it, and preferences may not be met (S11).
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// The output goes to the monitor ports of `pinna run --monitor` (S19).
    public static let defaultToSpeaker = CategoryOptions(rawValue: 2)
    /// Makes inputs of the type bluetoothHFP available, and their headsets' outputs usable (S19).
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
  }

  /// An output that overrides the options.
  public enum PortOverride: String, Sendable {
    case none
    /// The monitor ports.
    case speaker
  }
}
