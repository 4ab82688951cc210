import Glibc
import Numerics

/// Octaves and third octaves of evenly spaced frequencies.
struct Bands {
  /// Exact centres of `SeriesFigure.thirdOctaves`, in hertz.
  static let thirdOctaves = SeriesFigure.thirdOctaves.indices.map { 1000 * pow(2, Double($0 - 10) / 3) }

  /// In hertz.
  let frequencies: [Double]

  /// The third octaves below the Nyquist frequency.
  var thirdOctaves: [Double] { Self.thirdOctaves.filter { $0 * pow(2, 1.0 / 6) < frequencies.last ?? 0 } }

  /// The bins of a band of `width` octaves around `centre`; at least the nearest one.
  func bins(around centre: Double, width: Double) -> [Int] {
    let half = pow(2, width / 2)
    let bins = frequencies.indices.filter {
      frequencies[$0] >= centre / half && frequencies[$0] < centre * half
    }
    guard bins.isEmpty else { return bins }
    return [frequencies.indices.min { abs(frequencies[$0] - centre) < abs(frequencies[$1] - centre) }!]
  }

  /// The level of `energy` over `other` in the third octave around `centre`, in decibels; both `[frequency]`.
  func level(_ energy: [Double], over other: [Double], thirdOctave centre: Double) -> Double {
    let bins = bins(around: centre, width: 1.0 / 3)
    return 10 * log10((mean(bins.map { energy[$0] }) + 1e-12) / (mean(bins.map { other[$0] }) + 1e-12))
  }
}
