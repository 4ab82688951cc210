import Acoustics

/// A named setting: a device, a selection on it, an output gain, and a high-pass.
public struct Preset: Hashable, Sendable {
  /// The name of the preset file without its extension: "phone5".
  public let name: String
  public let title: String
  /// The name of the device file without its extension.
  public let device: String
  public let selection: Selection
  public let gain: Decibels
  public let highPass: HighPass

  /// Valid gains, in decibels.
  public static let gainRange = -60.0...24.0

  public init(
    name: String, title: String, device: String, selection: Selection, gain: Decibels = Decibels(0),
    highPass: HighPass = .off
  ) {
    self.name = name
    self.title = title
    self.device = device
    self.selection = selection
    self.gain = gain
    self.highPass = highPass
  }
}
