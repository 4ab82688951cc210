import Acoustics
import CLapack
import Foundation

/// Impulse responses of several channels (ears, microphones) to sound from several directions.
struct ImpulseResponses: Sendable {
  /// More samples than any measurement of an array has; a file that claims more is refused before it is copied.
  static let valueLimit = 32_000_000
  static let sampleRates = 8000.0...400_000.0

  /// The file they came from, for messages.
  let file: String
  let sampleRate: Double
  /// Unit vectors towards the sources: forward, left, up.
  let directions: [SIMD3<Double>]
  let channels: Int
  let frames: Int
  /// Shape `[direction][channel][frame]`, flat.
  let values: [Double]
  /// Frames by which each response is late on top of its own: `[direction][channel]`.
  let delays: [Double]

  /// Responses, all channels of all directions.
  var count: Int { directions.count * channels }

  /// Fourier sums of all responses, `origin` frames being time zero: `[direction][channel][frequency]`.
  func spectra(origin: Double, frequencies: [Double]) -> [Complex] {
    var kernel = [Double](repeating: 0, count: frames * 2 * frequencies.count)
    for n in 0..<frames {
      for (f, frequency) in frequencies.enumerated() {
        let phase = Complex(phase: -2 * .pi * frequency * (Double(n) - origin) / sampleRate)
        kernel[(n * frequencies.count + f) * 2] = phase.real
        kernel[(n * frequencies.count + f) * 2 + 1] = phase.imaginary
      }
    }
    var sums = [Double](repeating: 0, count: count * 2 * frequencies.count)
    multiply(values, kernel, rows: count, inner: frames, columns: 2 * frequencies.count, into: &sums)
    return (0..<count * frequencies.count).map { at in
      let sum = Complex(sums[2 * at], sums[2 * at + 1])
      let delay = delays[at / frequencies.count]
      return delay == 0
        ? sum : sum * Complex(phase: -2 * .pi * frequencies[at % frequencies.count] * delay / sampleRate)
    }
  }

  /// The frame at which each response first passes 15 % of its peak, its delay counted in: `[direction][channel]`.
  var onsets: [Double] {
    (0..<count).map { response in
      let samples = values[response * frames..<(response + 1) * frames]
      let peak = samples.lazy.map(abs).max() ?? 0
      let first = samples.firstIndex { abs($0) > 0.15 * peak } ?? samples.startIndex
      return Double(first - samples.startIndex) + delays[response]
    }
  }

  /// The first response without any sound, as people count: direction and channel from 1.
  var silent: (direction: Int, channel: Int)? {
    (0..<count).first { response in
      values[response * frames..<(response + 1) * frames].allSatisfy { $0 == 0 }
    }.map { ($0 / channels + 1, $0 % channels + 1) }
  }
}

extension ImpulseResponses {
  /// How much is kept before and after the sound, in seconds: longer than any filter that is designed, short enough
  /// to leave the room's reflections behind.
  private static let (before, after, fade) = (0.002, 0.0107, 0.001)

  /// The frames around `origin`, with what is cut off at the end faded out, and the first of them.
  /// - Parameter reach: by how much sound may reach a microphone earlier or later than the origin, in seconds.
  func cut(around origin: Double, reach: Double) -> (ImpulseResponses, first: Int) {
    let earliest = origin - (delays.max() ?? 0) - (Self.before + reach) * sampleRate
    let latest = origin - (delays.min() ?? 0) + (Self.after + reach) * sampleRate
    let first = min(max(0, Int(earliest)), frames - 1)
    let last = max(first + 1, min(frames, Int(latest)))
    let length = last - first
    let faded = last < frames ? min(length, Int(Self.fade * sampleRate)) : 0
    var values: [Double] = []
    values.reserveCapacity(count * length)
    for response in 0..<count {
      values += self.values[response * frames + first..<response * frames + last]
      for n in 0..<faded {
        values[values.count - 1 - n] *= (1 - cos(.pi * (Double(n) + 0.5) / Double(faded))) / 2
      }
    }
    let cut = ImpulseResponses(
      file: file, sampleRate: sampleRate, directions: directions, channels: channels, frames: length,
      values: values,
      delays: delays)
    return (cut, first)
  }
}
