import Acoustics
import FilterDesign
import Numerics

/// Accumulates, frequency by frequency, the responses of a stereo case over the listener's horizon and its noise gain.
package struct EarReading {
  /// Shape `[frequency][ear][azimuth]`.
  private(set) var ears: ResponseGrid
  /// Of each ear.
  private var earNoiseGains = [NoiseGain(), NoiseGain()]
  private(set) var diffuse = DiffuseReading()
  private let firstDirection: Int
  private let directions: Int

  /// Nil if `view` is a mono pattern.
  init?(_ view: CaseView, field: MeasuringField) {
    guard case .ears = view else { return nil }
    firstDirection = field.firstDirection(of: view)
    directions = field.directions.count
    ears = ResponseGrid(
      frequencies: field.frequencies.count, channels: 2, directions: MeasuringField.horizon.count)
  }

  /// Adds the next frequency.
  /// - Parameters:
  ///   - outputs: responses of both ears to the plane waves of the field, `[ear][direction]`.
  ///   - weights: the filters' spectra at this frequency, `[ear][microphone]`.
  ///   - frequency: index of the frequency.
  mutating func add(
    _ outputs: UnsafeBufferPointer<Complex>, weights: ArraySlice<Complex>, frequency: Int
  ) {
    let microphones = weights.count / 2
    let count = MeasuringField.sphere.count
    diffuse.add(
      UnsafeBufferPointer(rebasing: outputs[..<count]),
      UnsafeBufferPointer(rebasing: outputs[directions..<directions + count]))
    for ear in 0..<2 {
      let own = outputs[(ear * directions)...]
      for azimuth in 0..<ears.directions {
        ears[frequency, ear, azimuth] = own[own.startIndex + firstDirection + azimuth]
      }
      let signal = own.prefix(MeasuringField.sphere.count).reduce(0) { $0 + $1.squaredMagnitude }
      let noise = weights.dropFirst(ear * microphones).prefix(microphones)
        .reduce(0) { $0 + $1.squaredMagnitude }
      earNoiseGains[ear].add(noise: noise, signal: signal / Double(MeasuringField.sphere.count))
    }
  }

  /// Noise gain of the worse ear in decibels, per frequency.
  var noiseGains: [Double] { zip(earNoiseGains[0].levels, earNoiseGains[1].levels).map { max($0, $1) } }
}
