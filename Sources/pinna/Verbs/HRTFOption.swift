import Acoustics
import Messages

extension Verb {
  static let hrtfOption = Option(
    "--hrtf", "FILE", "SOFA file with the head's HRTFs for stereo (default: the device's, or KEMAR)")
}

extension Arguments {
  /// `device`, with the HRTF file of --hrtf if given.
  func withHRTF(_ device: Device) throws -> Device {
    guard let path = self["--hrtf"] else { return device }
    try InputPath.check(path, "give a SOFA file with HRTFs")
    return device.with(hrtf: path)
  }
}
