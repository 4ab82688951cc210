import FilterDesign
import Numerics

/// Accumulates how the channels of B-format compare with their spherical harmonics, frequency by frequency.
package struct HarmonicReading {
  /// Correlation of the pattern that is reached with the harmonic: `[channel][frequency]`.
  private(set) var correlations: [[Double]]
  /// Mean energy over the sphere relative to that of the harmonic: `[channel][frequency]`.
  private(set) var energies: [[Double]]
  /// Noise of microphones with noise of unit power, ‖w‖², relative to the harmonic's mean energy: `[channel][frequency]`.
  private(set) var noise: [[Double]]

  let view: AmbisonicsView
  private let targets: SphericalHarmonicTargets
  private let directions: Int
  private let frequencies: [Double]

  /// Nil if `view` is not B-format.
  init?(_ view: CaseView, field: MeasuringField) {
    guard case .ambisonics(let view) = view else { return nil }
    self.view = view
    targets = SphericalHarmonicTargets(
      order: view.order, frame: view.frame, directions: MeasuringField.sphere)
    directions = field.directions.count
    frequencies = field.frequencies
    let none = [[Double]](repeating: [], count: targets.channels)
    (correlations, energies, noise) = (none, none, none)
  }

  /// Adds the next frequency.
  /// - Parameters:
  ///   - outputs: responses of the channels to the plane waves of the field, `[channel][direction]`.
  ///   - weights: the filters' spectra at this frequency, `[channel][microphone]`.
  ///   - frequency: index of the frequency.
  mutating func add(
    _ outputs: UnsafeBufferPointer<Complex>, weights: ArraySlice<Complex>, frequency: Int
  ) {
    let heard = targets.heard(at: view.origin, frequency: frequencies[frequency])
    let count = targets.directions.count
    let microphones = weights.count / targets.channels
    for channel in 0..<targets.channels {
      var (product, energy, ideal) = (0.0, 0.0, 0.0)
      for d in 0..<count {
        let (reached, wanted) = (outputs[channel * directions + d], heard[channel * count + d])
        product += (reached * wanted.conjugate).real
        energy += reached.squaredMagnitude
        ideal += wanted.squaredMagnitude
      }
      correlations[channel].append(product / max((energy * ideal).squareRoot(), 1e-12))
      energies[channel].append(energy / ideal)
      let own = weights.dropFirst(channel * microphones).prefix(microphones)
      noise[channel].append(
        own.reduce(0) { $0 + $1.squaredMagnitude } / SphericalHarmonicTargets.diffuseEnergy(channel))
    }
  }
}
