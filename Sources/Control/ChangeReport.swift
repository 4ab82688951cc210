import Acoustics

/// The answer to every change (S14): the setting in force. A value; any thread.
package struct ChangeReport: Codable, Sendable {
  package let preset: String
  /// UID of the input.
  package let input: String
  package let dataSource: String
  package let polarPattern: PolarPattern
  package let inputOrientation: InputOrientation
  /// Nil for mono patterns.
  package let layout: StereoLayout?
  /// Number of output channels: 2 for stereo, otherwise 1.
  package let inputChannels: Int
  /// From −60 to 24 dB.
  package let gainDB: Double
  /// Corner of the high-pass; nil if it is off.
  package let highPassHz: Double?
  package let muted: Bool
  /// The microphone that is listened to alone; nil for none.
  package let listening: String?
  /// Why the requested change is deferred; nil if it is in force. The other fields describe the setting in force.
  package let kept: String?

  package init(_ setting: Setting, kept: String? = nil) {
    self.kept = kept
    input = setting.device.uid
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
    gainDB = setting.gain.value
    highPassHz = setting.highPass.frequency?.value
    muted = setting.muted
    listening = setting.listening
  }
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
}
