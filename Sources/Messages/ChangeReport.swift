import Acoustics
import Settings

/// The answer to every change (S14): the setting in force.
package typealias ChangeReport = Joined<FeedSetting, ChangeFields>

/// What is said besides the values of `main`.
package struct ChangeFields: Codable, Sendable {
  package var preset = ""
  /// UID of the input.
  package var input = ""
  /// What the pattern is weak in at its look; `inputs` says it of data sources.
  package var weak: String?
  /// Nil for mono patterns.
  package var layout: StereoLayout?
  /// Number of output channels: 2 for stereo, otherwise 1.
  package var inputChannels = 0
  /// The microphone that is listened to alone; nil for none.
  package var listening: String?
  /// Who sits where, as `--seat` takes it; nil for nobody.
  package var seats: [String]?
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
