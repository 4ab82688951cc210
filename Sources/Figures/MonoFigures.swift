import Acoustics
import Glibc
import Numerics

/// The figures of one mono pattern, per octave. `SeriesFigure` says what those of the same name are.
public struct MonoFigures: Sendable {
  public static let octaves = SeriesFigure.octaves.map { Hertz(Double($0)) }

  public let directivityIndex: [Decibels]
  /// See `SeriesFigure.frontBackOctaves`.
  public let frontBack: [Decibels]
  public let patternError: [Decibels]
  public let onAxis: [Decibels]
  public let whiteNoiseGain: [Decibels]
  /// Front-to-back ratio of the ideal pattern.
  package let targetFrontBack: Decibels
  /// See `Figure.aliasingFrequency`.
  public let aliasingFrequency: Hertz?
  /// Maximum noise ‖w‖² over all bins from 100 Hz to 16 kHz: the output noise of microphones with noise of unit power.
  package let noise: Decibels
  /// The number of octaves below the Nyquist frequency.
  private let octaveCount: Int

  /// - Parameter frequencies: of the reading, in hertz.
  package init(_ reading: PatternReading, frequencies: [Double]) {
    /// The mean level in decibels over the band from centre / 1.3 to centre × 1.3, for each octave centre.
    func octaves(_ energy: [Double], over reference: [Double]? = nil) -> [Decibels] {
      Self.octaves.map { centre in
        let bins = frequencies.indices.filter {
          frequencies[$0] >= centre.value / 1.3 && frequencies[$0] <= centre.value * 1.3
        }
        return Decibels(
          mean(
            bins.map { bin -> Double in
              let divisor = reference.map { $0[bin] + 1e-12 } ?? 1
              return 10 * log10((energy[bin] + 1e-12) / divisor)
            }))
      }
    }
    octaveCount = Self.octaves.count { $0.value * 1.3 <= frequencies.last ?? 0 }
    directivityIndex = octaves(reading.axis, over: reading.sphere)
    frontBack = octaves(reading.front, over: reading.rear)
    patternError = octaves(reading.error)
    onAxis = octaves(reading.axis)
    whiteNoiseGain = octaves(reading.axis, over: reading.noise)
    targetFrontBack = reading.targetFrontBack
    aliasingFrequency = Self.aliasingFrequency(reading, frequencies: frequencies)
    noise = Decibels(
      10
        * log10(
          zip(frequencies, reading.noise).filter { $0.0 > 100 && $0.0 < 16_000 }.map(\.1).max() ?? 1e-12))
  }

  private static func aliasingFrequency(_ reading: PatternReading, frequencies: [Double]) -> Hertz? {
    guard reading.targetDirectivity.value > 3 else { return nil }
    var lowest: Double?
    for third in 0..<14 {
      let centre = 12_000 / pow(2, Double(third) / 3)
      let bins = frequencies.indices.filter {
        frequencies[$0] >= centre / 1.1225 && frequencies[$0] <= centre * 1.1225
      }
      guard !bins.isEmpty else { continue }
      let index = mean(bins.map { 10 * log10((reading.axis[$0] + 1e-12) / (reading.sphere[$0] + 1e-12)) })
      guard index < reading.targetDirectivity.value - 3 else { break }
      lowest = centre / 1.1225
    }
    return lowest.map { Hertz($0) }
  }

  /// Front-to-back ratio with octaves weighted by speech importance.
  package var speechFrontBack: Decibels {
    Decibels(
      BinauralLevels.speechMean(
        zip(Self.octaves, frontBack).prefix(octaveCount).map { ($0.value, $1.value) }))
  }

  var table: Figures {
    var table = Figures()
    if let aliasingFrequency { table.set(.aliasingFrequency, aliasingFrequency.value) }
    for (figure, levels) in [
      (.directivityIndex, directivityIndex), (.frontBackOctaves, frontBack), (.patternError, patternError),
      (.onAxis, onAxis), (.whiteNoiseGain, whiteNoiseGain),
    ] as [(SeriesFigure, [Decibels])] {
      table.set(
        figure,
        Dictionary(
          uniqueKeysWithValues: zip(SeriesFigure.octaves, levels.map(\.value)).prefix(octaveCount)))
    }
    return table
  }
}
