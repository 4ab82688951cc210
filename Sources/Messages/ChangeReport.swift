import Acoustics

/// The answer to every change (S14): the setting in force.
package struct ChangeReport: Codable, Sendable {
  package var preset = ""
  /// UID of the input.
  package var input = ""
  package var dataSource = ""
  package var polarPattern = PolarPattern.omnidirectional
  package var inputOrientation = InputOrientation.portrait
  /// Where the mono pattern looks; nil for the data source's forward.
  package var look: Look?
  /// Of the device, in degrees; nil for none.
  package var roll: Double?
  /// Of the listener, in degrees; nil for none.
  package var yaw: Double?
  /// What follows the pose that comes in; nil for nothing.
  package var follow: [Followed]?
  /// What the pattern is weak in at its look; `inputs` says it of data sources.
  package var weak: String?
  /// Nil for mono patterns.
  package var layout: StereoLayout?
  /// Number of output channels: 2 for stereo, otherwise 1.
  package var inputChannels = 0
  /// From −60 to 24 dB.
  package var gainDB = 0.0
  /// Corner of the high-pass; nil if it is off.
  package var highPassHz: Double?
  /// How far the filters of stereo follow the sound, 0…1; nil for not at all.
  package var adaptation: Double?
  package var muted = false
  /// The microphone that is listened to alone; nil for none.
  package var listening: String?
  /// Why the requested change is deferred; nil if it is in force. The other fields describe the setting in force.
  package var kept: String?

  package init() {}
}

/// The answer to `forget`.
package struct ForgetAnswer: Codable, Sendable {
  /// Number of connections that are no longer remembered.
  package let forgotten: Int

  package init(forgotten: Int) { self.forgotten = forgotten }
}

/// The answer to `preset cancel`.
package struct CancelAnswer: Codable, Sendable {
  /// Name of the device that the cancelled change would have selected.
  package let cancelled: String

  package init(cancelled: String) { self.cancelled = cancelled }
}
