import Acoustics

// Words that the whole of Pinna shares, so that a program imports PinnaSession alone.

/// omnidirectional, subcardioid, cardioid, supercardioid, hypercardioid, figureEight, stereo.
public typealias PolarPattern = Acoustics.PolarPattern
/// portrait, portraitUpsideDown, landscapeLeft, landscapeRight: how the device is held.
public typealias InputOrientation = Acoustics.InputOrientation
/// Which edge of the device is left and which is right.
public typealias StereoLayout = Acoustics.StereoLayout
public typealias DeviceEdge = Acoustics.DeviceEdge
/// builtInMic, headsetMic, usbAudio, lineIn …
public typealias PortType = Acoustics.PortType
/// upper, lower.
public typealias Location = DataSource.Location
/// top, bottom, front, back, left, right: where a data source looks.
public typealias Orientation = DataSource.Orientation

extension AudioSession {
  /// What a session is for. Capturing needs `record` or `playAndRecord` (S1).
  public enum Category: String, Sendable, CaseIterable {
    case playback, record, playAndRecord

    public var captures: Bool { self != .playback }
    public var plays: Bool { self != .record }
  }

  /// What is captured for. A mode chooses a data source where nobody has (S16).
  public enum Mode: String, Sendable, CaseIterable {
    /// The bottom one: the person who speaks into the device.
    case `default`
    case voiceChat
    /// What the camera on the back looks at, with a directional pattern where there is one.
    case videoRecording
    /// One microphone as it is.
    case measurement
  }

  public struct CategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The session does not claim the route: other sessions may change it, and it may not get what it prefers (S11).
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// Sound goes out through the monitor ports of `pinna run --monitor` (S19).
    public static let defaultToSpeaker = CategoryOptions(rawValue: 2)
    /// Headsets of the type bluetoothHFP are among the available inputs, and their earpieces may be used (S19).
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
  }

  /// Where sound goes out whatever the options say.
  public enum PortOverride: String, Sendable {
    case none
    /// The monitor ports.
    case speaker
  }
}
