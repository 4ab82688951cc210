import Acoustics

extension FilterBank {
  /// The filters for an array whose microphones deviate from their model: with each microphone's gain and polarity
  /// undone. Delays are part of the design, because filters that end abruptly cannot be moved.
  /// - Parameter deviations: one per microphone.
  public func undoing(_ deviations: [Deviation]) -> FilterBank {
    guard deviations.contains(where: { $0.factor != 1 }) else { return self }
    precondition(deviations.count == microphones.count, "one deviation per microphone")
    return FilterBank(
      device: device, sampleRate: sampleRate, microphones: microphones, delayFrames: delayFrames,
      tapCount: tapCount,
      cases: cases.map { coefficients in
        var taps = coefficients.taps
        for (microphone, deviation) in deviations.enumerated() where deviation.factor != 1 {
          let factor = Float(1 / deviation.factor)
          for output in 0..<taps.outputs {
            taps[output, microphone] = ArraySlice(taps[output, microphone].map { factor * $0 })
          }
        }
        return FilterCoefficients(filterCase: coefficients.filterCase, taps: taps)
      }, refusals: refusals, weaknesses: weaknesses, remarks: remarks)
  }
}
