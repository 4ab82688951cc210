import Acoustics
import AudioFiles

extension [Float] {
  /// The signal as a microphone delivers it that deviates from its model.
  /// - Parameter rate: sample rate in hertz.
  func deviating(by deviation: Deviation, rate: Int) -> [Float] {
    guard deviation != .none else { return self }
    let late =
      deviation.delay == 0
      ? self
      : BandlimitedSignal(samples: self, sampleRate: rate).sampled(
        rate: rate, count: count, start: -deviation.delay)
    return late.map { Float(deviation.factor) * $0 }
  }
}
