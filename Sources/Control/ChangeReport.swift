import Acoustics

/// The answer to every change (S14): what is in force.
package struct ChangeReport: Codable, Sendable {
  package let preset: String
  /// UID of the input.
  package let input: String
  package let dataSource: String
  package let polarPattern: PolarPattern
  package let inputOrientation: InputOrientation
  /// Nil for mono patterns.
  package let layout: StereoLayout?
  /// Channels that come out: 2 for stereo, otherwise 1.
  package let inputChannels: Int
  /// From −60 to 24 dB.
  package let gainDB: Double
  package let muted: Bool
  /// Why what was asked for is kept and not in force; the rest says what is.
  package let kept: String?

  init(_ setting: Setting, kept: String? = nil) {
    self.kept = kept
    input = setting.device.uid
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
    gainDB = setting.gain.value
    muted = setting.muted
  }
}

/// The answer to `preset cancel`.
package struct CancelAnswer: Codable, Sendable {
  /// Name of the device that does not come.
  package let cancelled: String
}
