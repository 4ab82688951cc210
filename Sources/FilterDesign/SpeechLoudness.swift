import Foundation
import Numerics

/// The loudness of a voice in both outputs, relative to the same voice at one microphone in the free field that feeds
/// both outputs. Every case of a device is scaled to 0 dB for a voice straight ahead, so that a change of pattern or
/// orientation does not change how loud people are.
/// - Source: Byrne et al., An international comparison of long-term average speech spectra (1994), women and men; the
///   frequency weighting and the sum over channels of ITU-R BS.1770-4.
package struct SpeechLoudness: Sendable {
  /// Weight of each frequency, sum 1.
  private let weights: [Double]

  /// - Parameter frequencies: evenly spaced, in hertz.
  package init(frequencies: [Double]) {
    let raw = frequencies.map { Self.speech($0) * Self.weighting($0) }
    let sum = raw.reduce(0, +)
    weights = raw.map { $0 / sum }
  }

  /// Power ratio.
  /// - Parameters:
  ///   - responses: `[frequency][output][direction]`, of two outputs.
  ///   - direction: the index of the voice's direction.
  package func power(_ responses: ResponseGrid, direction: Int = 0) -> Double {
    weights.indices.reduce(0) { sum, f in
      let outputs = (0..<2).map { responses[f, $0, direction].squaredMagnitude }
      return sum + weights[f] * (outputs[0] + outputs[1]) / 2
    }
  }

  /// Power density of speech; 0 where it has next to none.
  private static func speech(_ frequency: Double) -> Double {
    let position = 3 * log2(frequency / 63)
    guard frequency > 0, position >= 0, position < Double(levels.count - 1) else { return 0 }
    let i = Int(position)
    let level = levels[i] + (position - Double(i)) * (levels[i + 1] - levels[i])
    return pow(10, level / 10) / frequency
  }

  /// Levels in decibels of the third octaves from 63 Hz to 16 kHz.
  private static let levels = [
    38.6, 43.5, 54.4, 57.7, 56.8, 60.2, 60.3, 59.0, 62.1, 62.1, 60.5, 56.8, 53.7, 53.0, 52.0, 48.7, 48.1,
    46.8,
    45.6, 44.5, 44.3, 43.7, 43.4, 41.3, 40.7,
  ]

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
