import Acoustics
import AudioFiles

/// Sound files that `pinna simulate` wrote.
enum SimulatedSound {
  /// `device` as it is in the sound file at `path`: what was measured of the real array counts for no simulated one,
  /// unless it was measured in a simulated scene, too. Says so where it makes a difference.
  static func device(_ device: Device, in path: String) -> Device {
    self.device(device, in: path, BroadcastExtension.simulatedScene(at: path))
  }

  /// The same for standard input.
  static func device(_ device: Device, in pipe: AudioFileReader) -> Device {
    self.device(device, in: pipe.path, pipe.simulatedScene)
  }

  private static func device(_ device: Device, in path: String, _ scene: String?) -> Device {
    guard let calibration = device.calibration, calibration.source != .simulated, scene != nil else {
      return device
    }
    Tool.complain(
      "\(path) is of pinna simulate: what was measured of \(device.name) on \(calibration.origin) is left out"
    )
    return device.with(calibration: nil)
  }
}
