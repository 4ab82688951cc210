import Glibc

/// Noise gain of one output over frequency: the output noise of microphones with equal, independent noise of unit power,
/// ‖w‖², relative to the output in a diffuse field, mean |Vᵀw|².
///
/// Where the array itself has a notch, the diffuse output counts as half its median over frequency: noise there is as
/// loud as anywhere, and no filters can bring back what the microphones do not pick up.
package struct NoiseGain: Sendable {
  /// Powers per frequency.
  private var noise: [Double] = []
  private var signal: [Double] = []

  package init() {}

  /// Adds the next frequency.
  /// - Parameters:
  ///   - noise: ‖w‖².
  ///   - signal: mean |Vᵀw|² over all directions.
  package mutating func add(noise: Double, signal: Double) {
    self.noise.append(noise)
    self.signal.append(signal)
  }

  /// Noise gain per frequency, in decibels.
  package var levels: [Double] {
    let least = max((signal.sorted().dropFirst(signal.count / 2).first ?? 0) / 2, 1e-12)
    return zip(noise, signal).map { 10 * log10(max($0, 1e-30) / max($1, least)) }
  }
}
