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
  /// Front-to-back ratio and directivity index of the ideal pattern.
  package let targetFrontBack: Decibels
  package let targetDirectivity: Decibels
  /// Levels of voices at the sides (the louder of left and right) and behind, relative to one in front: what a check
  /// hears.
  package let sides: [Decibels]
  package let behind: [Decibels]
  /// Directivity index by third octave, from 100 Hz to 4 kHz, as far as there are bins.
  package let directivityThirds: [(centre: Hertz, index: Decibels)]
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
    targetDirectivity = reading.targetDirectivity
    let bands = Bands(frequencies: frequencies)
    /// The level of the octaves' energy relative to that of the axis, as a check hears it: over whole octaves.
    func voice(_ energy: [Double]) -> [Decibels] {
      Self.octaves.map { centre in
        let bins = bands.bins(around: centre.value, width: 1)
        func sum(_ energy: [Double]) -> Double { bins.reduce(1e-12) { $0 + energy[$1] } }
        return Decibels(10 * log10(sum(energy) / sum(reading.axis)))
      }
    }
    sides = zip(voice(reading.left), voice(reading.right)).map { max($0, $1) }
    behind = voice(reading.behind)
    directivityThirds = Self.thirds(100...4000, reading, frequencies: frequencies)
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
      guard let index = directivity(ofThird: centre, reading, frequencies: frequencies) else { continue }
      guard index < reading.targetDirectivity.value - 3 else { break }
      lowest = centre / thirdEdge
    }
    return lowest.map { Hertz($0) }
  }

  /// The edges of a third octave, relative to its centre.
  private static let thirdEdge = 1.1225

  /// Mean directivity index, in decibels, of the third octave around `centre`; nil if it has no bins.
  private static func directivity(
    ofThird centre: Double, _ reading: PatternReading, frequencies: [Double]
  ) -> Double? {
    let bins = frequencies.indices.filter {
      frequencies[$0] >= centre / thirdEdge && frequencies[$0] <= centre * thirdEdge
    }
    guard !bins.isEmpty else { return nil }
    return mean(bins.map { 10 * log10((reading.axis[$0] + 1e-12) / (reading.sphere[$0] + 1e-12)) })
  }

  /// The third octaves of ISO 266 whose centres lie in `range`, upwards.
  private static func thirds(
    _ range: ClosedRange<Double>, _ reading: PatternReading, frequencies: [Double]
  ) -> [(centre: Hertz, index: Decibels)] {
    SeriesFigure.thirdOctaves.map(Double.init).filter(range.contains).compactMap { centre in
      directivity(ofThird: centre, reading, frequencies: frequencies).map { (Hertz(centre), Decibels($0)) }
    }
  }

  /// The mean of values of octaves, weighted by speech importance.
  package func speech(_ values: [Decibels]) -> Decibels {
    Decibels(
      BinauralLevels.speechMean(
        zip(Self.octaves, values).prefix(octaveCount).map { ($0.value, $1.value) }))
  }

  /// Indices of the octaves with a centre in `range` that lie below the Nyquist frequency.
  package func octaves(_ range: ClosedRange<Hertz>) -> [Int] {
    Self.octaves.indices.prefix(octaveCount).filter { range.contains(Self.octaves[$0]) }
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
