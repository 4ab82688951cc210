import Foundation

/// Band levels and time differences of two ears over the 72 azimuths of `MeasuringField.horizon`.
struct BinauralLevels: Sendable {
  /// Where +90°, 180° and −90° are.
  static let (left, back, right) = (18, 36, 54)

  /// Share of each octave in speech, centre in hertz.
  /// - Source: ANSI S3.5-1997, table 3 (octave bands).
  static let speechOctaves: [(centre: Double, weight: Double)] = [
    (250, 0.0617), (500, 0.1671), (1000, 0.2373), (2000, 0.2648), (4000, 0.2142), (8000, 0.0549),
  ]
  static let octaveCentres = [125.0, 250, 500, 1000, 2000, 4000, 8000]

  let frequencies: [Double]
  let responses: ResponseGrid
  /// Levels in decibels of the octaves that fit below half the sample rate: `[octave][ear][direction]`.
  let octaves: [[[Double]]]
  /// Interaural time differences in microseconds, positive where the left ear leads.
  let timeDifferences: [Double]

  /// - Parameter responses: `[frequency][ear][direction]`.
  init(_ responses: ResponseGrid, frequencies: [Double]) {
    self.responses = responses
    self.frequencies = frequencies
    let highest = frequencies.last ?? 0
    octaves = Self.octaveCentres.filter { $0 * 1.35 < highest }.map { centre in
      Self.levels(
        responses,
        bins: frequencies.indices.filter {
          frequencies[$0] >= centre / 2.0.squareRoot() && frequencies[$0] < centre * 2.0.squareRoot()
        })
    }
    timeDifferences = Self.timeDifferences(responses, frequencies: frequencies)
  }

  /// Left over right of a source at +90°, and the reverse at −90°, mean, in decibels.
  var separation: Double {
    weighted { level in
      (level[0][Self.left] - level[1][Self.left] + level[1][Self.right] - level[0][Self.right]) / 2
    }
  }

  /// Energy of 0° over that of 180°, both ears, in decibels.
  var frontBack: Double {
    weighted { level in
      let front = pow(10, level[0][0] / 10) + pow(10, level[1][0] / 10)
      let behind = pow(10, level[0][Self.back] / 10) + pow(10, level[1][Self.back] / 10)
      return 10 * log10(front / behind)
    }
  }

  /// `figure` of each octave's levels, weighted by the octave's share in speech.
  func weighted(_ figure: (_ levels: [[Double]]) -> Double) -> Double {
    var sum = 0.0
    var weights = 0.0
    for (centre, levels) in zip(Self.octaveCentres, octaves) {
      guard let weight = Self.speechOctaves.first(where: { $0.centre == centre })?.weight else { continue }
      sum += weight * figure(levels)
      weights += weight
    }
    return sum / max(weights, 1e-9)
  }

  /// Mean absolute difference of left-over-right levels in ERB bands whose centre lies between the limits.
  /// - Source: Glasberg and Moore, Derivation of auditory filter shapes from notched-noise data (1990).
  func levelDifferenceError(against other: BinauralLevels, from low: Double, to high: Double) -> Double {
    let centres = (3..<38).map { (pow(10, Double($0) / 21.4) - 1) / 0.00437 }
    let spacing = frequencies[1]
    let errors = centres.filter { $0 > low && $0 < high && $0 * 1.1 < frequencies.last! }.flatMap { centre in
      let half = max(24.7 * (4.37e-3 * centre + 1) / 2, 0.6 * spacing)
      let bins = frequencies.indices.filter { abs(frequencies[$0] - centre) <= half }
      let (mine, theirs) = (Self.levels(responses, bins: bins), Self.levels(other.responses, bins: bins))
      return (0..<responses.directions).map { abs(mine[0][$0] - mine[1][$0] - theirs[0][$0] + theirs[1][$0]) }
    }
    return mean(errors)
  }

  /// The lag within ±1 ms at which both ears correlate best, 150–1500 Hz.
  private static func timeDifferences(_ responses: ResponseGrid, frequencies: [Double]) -> [Double] {
    let bins = frequencies.indices.filter { frequencies[$0] >= 150 && frequencies[$0] <= 1500 }
    let lags = Array(stride(from: -1000.0, through: 1000, by: 2))
    // The correlations' real parts: [lag][bin × (real, imaginary)] times [bin × (real, imaginary)][direction].
    let turns = lags.flatMap { lag in
      bins.flatMap { bin in
        let turn = Complex(phase: -2e-6 * .pi * frequencies[bin] * lag)
        return [turn.real, -turn.imaginary]
      }
    }
    let count = responses.directions
    var cross: [Double] = []
    for bin in bins {
      let products = (0..<count).map { responses[bin, 0, $0] * responses[bin, 1, $0].conjugate }
      cross += products.map(\.real) + products.map(\.imaginary)
    }
    var correlations = [Double](repeating: 0, count: lags.count * count)
    multiply(turns, cross, rows: lags.count, inner: 2 * bins.count, columns: count, into: &correlations)
    return (0..<count).map { d in
      lags[lags.indices.max { correlations[$0 * count + d] < correlations[$1 * count + d] }!]
    }
  }

  private static func levels(_ responses: ResponseGrid, bins: [Int]) -> [[Double]] {
    (0..<2).map { ear in
      (0..<responses.directions).map { d in
        10 * log10(mean(bins.map { responses[$0, ear, d].squaredMagnitude }) + 1e-12)
      }
    }
  }
}
