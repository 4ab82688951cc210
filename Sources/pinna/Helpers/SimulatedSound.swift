import Acoustics
import AudioFiles

/// Sound files that `pinna simulate` wrote.
enum SimulatedSound {
  /// `device` as it is in the sound file at `path`: what was measured of the real array counts for no simulated one,
  /// unless it was measured in a simulated scene, too. Says so where it makes a difference.
  static func device(_ device: Device, in path: String) -> Device {
    guard let calibration = device.calibration, calibration.source != .simulated,
      BroadcastExtension.simulatedScene(at: path) != nil
    else { return device }
    Tool.complain(
      "\(path) is of pinna simulate: what was measured of \(device.name) on \(calibration.origin) is left out"
    )
    return device.with(calibration: nil)
  }
}
