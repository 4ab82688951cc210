import Acoustics

/// Why a recording cannot be checked, or an array not be calibrated, as one sentence.
public struct ArrayCheckError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

extension ArrayCheckError {
  static func channels(_ count: Int, of device: Device) -> ArrayCheckError {
    ArrayCheckError(
      "the recording has \(count) channels, but \(device.name) has \(device.microphones.count) microphones; "
        + "record one channel per microphone, in the order of the device file")
  }

  static func sampleRate(_ rate: Int) -> ArrayCheckError {
    let rates = Thresholds.sampleRates
    return ArrayCheckError(
      "the recording is at \(rate) Hz; record at \(rates.lowerBound) to \(rates.upperBound) Hz")
  }

  static let tooShort = ArrayCheckError("the recording is shorter than 1 s; record 10 s of speech or music")

  // MARK: Calibration

  static func single(_ device: Device) -> ArrayCheckError {
    ArrayCheckError("\(device.name) has one microphone, which there is nothing to compare with")
  }

  static let tooShortToCalibrate = ArrayCheckError(
    "the recording is shorter than 5 s; record 20 s of sound from all around")

  static func obstacle(_ finding: Finding) -> ArrayCheckError {
    ArrayCheckError("\(finding.sentence): \(finding.remedy); then calibrate")
  }

  /// - Parameter delay: in seconds.
  static func tooLate(_ name: String, _ delay: Double) -> ArrayCheckError {
    ArrayCheckError(
      "\(name) is \(Int((delay * 1e6).rounded())) µs late, more than can be measured for sure "
        + "(\(Int(Thresholds.mostCalibratedDelay * 1e6)) µs): look for what delays its channel, such as another "
        + "converter; then calibrate")
  }

  /// - Parameter gain: in decibels.
  static func tooUnequal(_ name: String, _ gain: Double) -> ArrayCheckError {
    ArrayCheckError(
      "\(name) is \(signed(gain)) dB against the median microphone, more than filters can undo "
        + "(\(Int(Deviation.gainRange.upperBound)) dB): set the gains of the interface alike, or check its plug; then "
        + "calibrate")
  }

  static func uneven(_ unevenness: Double) -> ArrayCheckError {
    ArrayCheckError(
      "the sound came from too few directions to calibrate with (unevenness \((unevenness * 100).rounded() / 100), limit "
        + "\(Thresholds.mostUnevenness)): record 20 s of noise from all around, such as a busy street, rain or a "
        + "running tap, or walk around the array with a hissing radio; one talker is not enough")
  }
}
