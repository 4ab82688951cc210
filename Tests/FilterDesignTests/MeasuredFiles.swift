import Acoustics
import AudioFiles
import Foundation
import Manifolds
import Numerics
import TestSupport

/// The files of a measurement of `manifold`: a WAV of responses and a table of directions.
struct MeasuredFiles {
  let folder: TemporaryFolder
  var wav: String { folder.path + "/responses.wav" }
  var table: String { folder.path + "/directions.csv" }
  var measurement: ArrayMeasurement { .impulseResponses(path: wav, directions: table) }

  static let frames = 128
  /// The frame at which the sound passes the origin.
  static let origin = 40.3

  /// - Parameters:
  ///   - directions: in the device frame.
  ///   - level: of the whole measurement.
  ///   - gain: of each microphone over frequency, with linear phase.
  init(
    _ manifold: some ArrayManifold, directions: [SIMD3<Double>], sampleRate: Double = 48_000,
    level: Double = 0.3, gain: (_ frequency: Double, _ microphone: Int) -> Double = { _, _ in 1 }
  ) throws {
    folder = try TemporaryFolder()
    let channels = manifold.microphoneCount
    let half = Self.frames / 2
    let frequencies = (0...half).map { Double($0) * sampleRate / Double(Self.frames) }
    let grid = manifold.responses(from: directions, frequencies: frequencies)
    let waves = (0..<Self.frames).map { Complex(phase: 2 * .pi * Double($0) / Double(Self.frames)) }
    var signals = [[Float]](repeating: [], count: channels)
    for d in directions.indices {
      for m in 0..<channels {
        let spectrum = frequencies.enumerated().map { k, frequency in
          let shift = Complex(phase: -2 * .pi * frequency * Self.origin / sampleRate)
          return level * gain(frequency, m) * Self.band(frequency / sampleRate) * (grid[k, m, d] * shift)
        }
        signals[m] += (0..<Self.frames).map { n in
          let sum = (0...half).reduce(0.0) { sum, k in
            sum + (k == 0 || k == half ? 1 : 2) * (spectrum[k] * waves[k * n % Self.frames]).real
          }
          return Float(sum / Double(Self.frames))
        }
      }
    }
    try AudioClip(sampleRate: Int(sampleRate), channels: signals).write(wav: wav)
    try Self.table(of: directions).write(toFile: table, atomically: true, encoding: .utf8)
  }

  /// 1 up to 0.33 of the rate, falling to 0 at half of it: a steep edge would ring for long.
  static func band(_ part: Double) -> Double {
    part < 0.33 ? 1 : pow(cos(min(1, (part - 0.33) / 0.17) * .pi / 2), 2)
  }

  /// Azimuth from the front (+z) to its left (+x), elevation towards +y.
  static func table(of directions: [SIMD3<Double>]) -> String {
    "azimuth, elevation\n# degrees\n"
      + directions.map {
        "\(atan2($0.x, $0.z) * 180 / .pi), \(asin(min(1, max(-1, $0.y))) * 180 / .pi)\n"
      }.joined()
  }

  /// The 710 directions of MIT's KEMAR: rings 10° apart from −40° up.
  static let kemarGrid: [SIMD3<Double>] = zip(
    stride(from: -40.0, through: 90, by: 10), [56, 60, 72, 72, 72, 72, 72, 60, 56, 45, 36, 24, 12, 1]
  ).flatMap { elevation, count in
    (0..<count).map { i in
      let v = sphericalUnit(
        azimuth: .degrees(360 * Double(i) / Double(count)), elevation: .degrees(elevation))
      return [v.y, v.z, v.x]
    }
  }
}

/// The energy of the difference of two manifolds relative to the second, in dB, per frequency.
func errorLevels(
  _ found: ResponseGrid, _ wanted: ResponseGrid, where isCounted: (Int) -> Bool = { _ in true }
) -> [Double] {
  (0..<wanted.frequencies).map { f in
    var (error, energy) = (0.0, 0.0)
    for m in 0..<wanted.channels {
      for d in 0..<wanted.directions where isCounted(d) {
        error += (found[f, m, d] - wanted[f, m, d]).squaredMagnitude
        energy += wanted[f, m, d].squaredMagnitude
      }
    }
    return 10 * log10(error / energy)
  }
}

/// `found` with the delay and gain, equal at all frequencies, that fit it best to `wanted`. A measurement
/// does not determine these two.
func fitted(_ found: ResponseGrid, to wanted: ResponseGrid, frequencies: [Double]) -> ResponseGrid {
  let size = wanted.channels * wanted.directions
  let ratios = frequencies.indices.map { f -> Complex in
    let (sum, energy) = (f * size..<(f + 1) * size).reduce((Complex.zero, 0.0)) { sum, at in
      (sum.0 + found.values[at] * wanted.values[at].conjugate, sum.1 + wanted.values[at].squaredMagnitude)
    }
    return (1 / energy) * sum
  }
  let squares = frequencies.reduce(0) { $0 + $1 * $1 }
  let slope = zip(frequencies, ratios).reduce(0) { $0 + $1.0 * $1.1.phase } / squares
  let gain = ratios.reduce(0) { $0 + $1.magnitude } / Double(ratios.count)
  var result = found
  for f in frequencies.indices {
    let shift = (1 / gain) * Complex(phase: -slope * frequencies[f])
    for at in f * size..<(f + 1) * size { result.values[at] *= shift }
  }
  return result
}
