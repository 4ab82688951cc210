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
        FilterCoefficients(
          filterCase: coefficients.filterCase,
          taps: coefficients.taps.map { output in
            zip(output, deviations).map { taps, deviation in
              let factor = Float(1 / deviation.factor)
              return factor == 1 ? taps : taps.map { factor * $0 }
            }
          })
      }, refusals: refusals, weaknesses: weaknesses, remarks: remarks)
  }
}
