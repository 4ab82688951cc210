import Acoustics
import Glibc
import Numerics

/// Octave levels and interaural time differences over the 72 azimuths of `MeasuringField.horizon`.
package struct BinauralLevels: Sendable {
  /// Indices of the azimuths +90°, 180° and −90°.
  static let (left, back, right) = (18, 36, 54)
  /// From 165° to 195°.
  static let behind = 33...39

  /// Importance of each octave for speech intelligibility; centres in hertz.
  /// - Source: ANSI S3.5-1997, table 3 (octave bands).
  static let speechOctaves: [(centre: Double, weight: Double)] = [
    (250, 0.0617), (500, 0.1671), (1000, 0.2373), (2000, 0.2648), (4000, 0.2142), (8000, 0.0549),
  ]
  static let octaveCentres = [125.0, 250, 500, 1000, 2000, 4000, 8000]

  let frequencies: [Double]
  let responses: ResponseGrid
  /// Levels in decibels of the octaves below the Nyquist frequency: `[octave][ear][direction]`.
  let octaves: [[[Double]]]
  /// Interaural time differences in microseconds, positive if the left ear leads.
  let timeDifferences: [Double]

  /// - Parameter responses: `[frequency][ear][direction]`.
  init(_ responses: ResponseGrid, frequencies: [Double]) {
    self.responses = responses
    self.frequencies = frequencies
    let highest = frequencies.last ?? 0
    octaves = Self.octaveCentres.filter { $0 * 1.35 < highest }.map { centre in
      responses.levels(
        frequencies.indices.filter {
          frequencies[$0] >= centre / 2.0.squareRoot() && frequencies[$0] < centre * 2.0.squareRoot()
        })
    }
    timeDifferences = Self.timeDifferences(responses, frequencies: frequencies)
  }

  /// Left-right separation in decibels: mean of the level of left over right for a source at +90°, and of right over
  /// left for a source at −90°; octaves weighted by speech importance.
  var separation: Double {
    weighted { level in
      (level[0][Self.left] - level[1][Self.left] + level[1][Self.right] - level[0][Self.right]) / 2
    }
  }

  /// Front-to-back ratio in decibels: energy in both ears of a source at 0° over that of a source at 180°; octaves
  /// weighted by speech importance.
  var frontBack: Double {
    weighted { level in
      let front = pow(10, level[0][0] / 10) + pow(10, level[1][0] / 10)
      let back = pow(10, level[0][Self.back] / 10) + pow(10, level[1][Self.back] / 10)
      return 10 * log10(front / back)
    }
  }

  /// Where the voice from each direction is heard.
  var heard: [Angle] {
    timeDifferences.enumerated().map { direction, time in
      Lateralisation.angle(
        levelDifference: Decibels(weighted { $0[0][direction] - $0[1][direction] }),
        timeDifference: time * 1e-6)
    }
  }

  /// The level of both ears together for the first direction, straight ahead, over that of `target`, whose loudness is
  /// the power ratio `loudness`: in decibels, by third octave.
  func frontErrors(against target: BinauralLevels, loudness: Double) -> [Double] {
    let bands = Bands(frequencies: frequencies)
    let (reached, wanted) = (front, target.front)
    return bands.thirdOctaves.map {
      bands.level(reached, over: wanted, thirdOctave: $0) + 10 * log10(loudness)
    }
  }

  /// Energy of both ears for the first direction; `[frequency]`.
  private var front: [Double] {
    frequencies.indices.map { responses[$0, 0, 0].squaredMagnitude + responses[$0, 1, 0].squaredMagnitude }
  }

  /// Weighted mean over octaves of `figure`, which computes a value from the octave's levels `[ear][direction]`.
  func weighted(_ figure: (_ levels: [[Double]]) -> Double) -> Double {
    Self.speechMean(zip(Self.octaveCentres, octaves).map { ($0, figure($1)) })
  }

  /// The mean of values of octaves, weighted by speech importance.
  static func speechMean(_ values: [(centre: Double, value: Double)]) -> Double {
    var (sum, weights) = (0.0, 0.0)
    for (centre, value) in values {
      guard let weight = speechOctaves.first(where: { $0.centre == centre })?.weight else { continue }
      sum += weight * value
      weights += weight
    }
    return sum / max(weights, 1e-9)
  }

  /// Mean absolute error of the interaural level difference against `other`, in decibels, over all azimuths and the ERB
  /// bands whose centre lies between `low` and `high`, in hertz.
  /// - Source: Glasberg and Moore, Derivation of auditory filter shapes from notched-noise data (1990).
  func levelDifferenceError(against other: BinauralLevels, from low: Double, to high: Double) -> Double {
    let centres = (3..<38).map { (pow(10, Double($0) / 21.4) - 1) / 0.00437 }
    let spacing = frequencies[1]
    let errors = centres.filter { $0 > low && $0 < high && $0 * 1.1 < frequencies.last! }.flatMap { centre in
      let half = max(24.7 * (4.37e-3 * centre + 1) / 2, 0.6 * spacing)
      let bins = frequencies.indices.filter { abs(frequencies[$0] - centre) <= half }
      let (a, b) = (responses.levels(bins), other.responses.levels(bins))
      return (0..<responses.directions).map { d -> Double in
        let (difference, others) = (a[0][d] - a[1][d], b[0][d] - b[1][d])
        return abs(difference - others)
      }
    }
    return mean(errors)
  }

  /// Interaural time differences in microseconds: the lag within ±1 ms that maximises the interaural cross-correlation,
  /// 150–1500 Hz, per direction.
  private static func timeDifferences(_ responses: ResponseGrid, frequencies: [Double]) -> [Double] {
    let bins = frequencies.indices.filter { frequencies[$0] >= 150 && frequencies[$0] <= 1500 }
    let lags = Array(stride(from: -1000.0, through: 1000, by: 2))
    // Real parts of the correlations as a matrix product:
    // [lag][bin × (real, imaginary)] times [bin × (real, imaginary)][direction].
    let phasors = lags.flatMap { lag in
      bins.flatMap { bin in
        let phasor = Complex(phase: -2e-6 * .pi * frequencies[bin] * lag)
        return [phasor.real, -phasor.imaginary]
      }
    }
    let count = responses.directions
    var cross: [Double] = []
    for bin in bins {
      let products = (0..<count).map { responses[bin, 0, $0] * responses[bin, 1, $0].conjugate }
      cross += products.map(\.real) + products.map(\.imaginary)
    }
    var correlations = [Double](repeating: 0, count: lags.count * count)
    multiply(phasors, cross, rows: lags.count, inner: 2 * bins.count, columns: count, into: &correlations)
    return (0..<count).map { d in
      lags[lags.indices.max { correlations[$0 * count + d] < correlations[$1 * count + d] }!]
    }
  }
}

extension ResponseGrid {
  /// Mean levels over `bins` in decibels: `[channel][direction]`.
  func levels(_ bins: [Int]) -> [[Double]] {
    (0..<channels).map { channel in
      (0..<directions).map { direction in
        10 * log10(mean(bins.map { self[$0, channel, direction].squaredMagnitude }) + 1e-12)
      }
    }
  }
}
