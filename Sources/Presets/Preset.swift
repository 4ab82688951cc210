import Acoustics

/// A named choice: a device, what is selected on it, and how loud it comes out.
public struct Preset: Hashable, Sendable {
  /// The name of its file: "phone5".
  public let name: String
  public let title: String
  /// The name of the device's file.
  public let device: String
  public let selection: Selection
  public let gain: Decibels

  public static let gainRange = -60.0...24.0

  public init(name: String, title: String, device: String, selection: Selection, gain: Decibels = Decibels(0))
  {
    self.name = name
    self.title = title
    self.device = device
    self.selection = selection
    self.gain = gain
  }
}
