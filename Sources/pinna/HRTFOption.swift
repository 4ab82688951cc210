import Acoustics
import Control

extension Verb {
  static let hrtfOption = Option(
    "--hrtf", "FILE", "SOFA file of the head that stereo imitates (default: the device's, or KEMAR)")
}

extension Arguments {
  /// `device`, with the head that --hrtf names.
  func withHRTF(_ device: Device) throws -> Device {
    guard let path = self["--hrtf"] else { return device }
    try InputPath.check(path, "give a SOFA file of a head")
    return device.with(hrtf: path)
  }
}
