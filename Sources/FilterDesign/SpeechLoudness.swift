import Glibc
import Numerics

/// The loudness of a voice in both outputs, relative to the same voice at one microphone in the free field that feeds
/// both outputs. Every case of a device is scaled to 0 dB for a voice straight ahead, so that a change of pattern or
/// orientation does not change how loud people are. A case that lacks low frequencies is louder for a raised voice than
/// for a normal one; the scale lies midway in decibels.
/// - Source: Byrne et al., An international comparison of long-term average speech spectra (1994), women and men, normal
///   effort; ANSI S3.5-1997, table 3, raised effort; the frequency weighting and the sum over channels of ITU-R BS.1770-4.
package struct SpeechLoudness: Sendable {
  /// Weights of the frequencies for each voice, sum 1.
  private let weights: [[Double]]

  /// - Parameter frequencies: evenly spaced, in hertz.
  package init(frequencies: [Double]) {
    weights = [Self.normal, Self.raised].map { spectrum in
      let raw: [Double] = frequencies.map { spectrum.density(at: $0) * Self.weighting($0) }
      let sum: Double = raw.reduce(0, +)
      return raw.map { $0 / sum }
    }
  }

  /// Power ratio, the geometric mean over the voices.
  /// - Parameters:
  ///   - responses: `[frequency][output][direction]`, of two outputs.
  ///   - direction: the index of the voice's direction.
  package func power(_ responses: ResponseGrid, direction: Int = 0) -> Double {
    let logarithms = weights.map { weights in
      let power: Double = weights.indices.reduce(0) { sum, f in
        let outputs = (0..<2).map { responses[f, $0, direction].squaredMagnitude }
        return sum + weights[f] * (outputs[0] + outputs[1]) / 2
      }
      return log(power)
    }
    return exp(mean(logarithms))
  }

  /// Levels of speech in third octaves.
  private struct Spectrum {
    /// Centre of the first third octave, in hertz.
    let lowest: Double
    /// In decibels: of the whole third octaves, or of one hertz in them.
    let levels: [Double]
    let isPerHertz: Bool

    /// Power density; 0 where speech has next to none.
    func density(at frequency: Double) -> Double {
      let position = 3 * log2(frequency / lowest)
      guard frequency > 0, position >= 0, position < Double(levels.count - 1) else { return 0 }
      let i = Int(position)
      let level = levels[i] + (position - Double(i)) * (levels[i + 1] - levels[i])
      let bandwidth: Double = isPerHertz ? 1 : frequency
      return pow(10, level / 10) / bandwidth
    }
  }

  private static let normal = Spectrum(
    lowest: 63,
    levels: [
      38.6, 43.5, 54.4, 57.7, 56.8, 60.2, 60.3, 59.0, 62.1, 62.1, 60.5, 56.8, 53.7, 53.0, 52.0, 48.7, 48.1,
      46.8, 45.6, 44.5, 44.3, 43.7, 43.4, 41.3, 40.7,
    ], isPerHertz: false)

  private static let raised = Spectrum(
    lowest: 160,
    levels: [
      33.81, 33.92, 38.98, 38.57, 39.11, 40.15, 38.78, 36.37, 33.86, 31.89, 28.58, 25.32, 22.35, 20.15,
      16.78, 11.47, 7.67, 5.07,
    ], isPerHertz: true)

  /// Squared magnitude of the two filters of BS.1770 (K-weighting) at 48 kHz.
  private static func weighting(_ frequency: Double) -> Double {
    let delay = Complex(phase: -2 * .pi * frequency / 48_000)
    func squared(_ c: [Double]) -> Double {
      (Complex(c[0], 0) + delay * (Complex(c[1], 0) + c[2] * delay)).squaredMagnitude
    }
    let shelf =
      squared([1.53512485958697, -2.69169618940638, 1.19839281085285])
      / squared([1, -1.69065929318241, 0.73248077421585])
    let highPass = squared([1, -2, 1]) / squared([1, -1.99004745483398, 0.99007225036621])
    return shelf * highPass
  }
}
