import Acoustics
import CLapack
import Glibc
import Numerics

/// Impulse responses of several channels (ears or microphones) to sound from several directions.
package struct ImpulseResponses: Sendable {
  /// Maximum number of samples, well above that of real measurements. A file that claims more is refused before memory
  /// is allocated for it.
  static let valueLimit = 32_000_000
  package static let sampleRates = 8000.0...400_000.0

  /// The file that the responses were read from, for messages.
  package let file: String
  package let sampleRate: Double
  /// Unit vectors towards the sources, in the listener's coordinates: forward, left, up.
  package let directions: [SIMD3<Double>]
  package let channels: Int
  package let frames: Int
  /// Shape `[direction][channel][frame]`, flat.
  package let values: [Double]
  /// Additional delay of each response in frames (SOFA's `Data.Delay`): `[direction][channel]`.
  let delays: [Double]
  /// What is odd about the file, as one sentence; nil if nothing is.
  package var remark: String?
  /// Where each channel's receiver is (forward, left, up), in metres; zero or empty if that is not known.
  var receivers: [SIMD3<Double>] = []

  /// The number of responses: all channels of all directions.
  package var count: Int { directions.count * channels }

  /// Spectra of all responses at arbitrary frequencies, by direct evaluation of the Fourier sum.
  /// - Parameters:
  ///   - origin: the frame that counts as time zero; may be fractional.
  ///   - frequencies: in hertz.
  /// - Returns: shape `[direction][channel][frequency]`, e^(+jωt): a delay makes the phase negative.
  package func spectra(origin: Double, frequencies: [Double]) -> [Complex] {
    // From one frame to the next, phasors are turned by a complex product.
    let turns = frequencies.map { -2 * .pi * $0 / sampleRate }
    let steps = turns.map { Complex(phase: $0) }
    var phasors = turns.map { Complex(phase: -$0 * origin) }
    var kernel = [Complex](repeating: .zero, count: frames * frequencies.count)
    kernel.withUnsafeMutableBufferPointer { kernel in
      phasors.withUnsafeMutableBufferPointer { phasors in
        steps.withUnsafeBufferPointer { steps in
          for n in 0..<frames {
            for f in steps.indices {
              kernel[n * steps.count + f] = phasors[f]
              phasors[f] = steps[f] * phasors[f]
            }
          }
        }
      }
    }
    let width = 2 * frequencies.count
    return [Complex](unsafeUninitializedCapacity: count * frequencies.count) { sums, size in
      size = count * frequencies.count
      kernel.withUnsafeBytes { kernel in
        sums.withMemoryRebound(to: Double.self) { sums in
          cblas_dgemm(
            CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(count), Int32(width), Int32(frames), 1, values,
            Int32(frames), kernel.bindMemory(to: Double.self).baseAddress!, Int32(width), 0,
            sums.baseAddress!,
            Int32(width))
        }
      }
      for (response, delay) in delays.enumerated() where delay != 0 {
        for (f, turn) in turns.enumerated() {
          sums[response * frequencies.count + f] *= Complex(phase: turn * delay)
        }
      }
    }
  }

  /// The frame at which each response first exceeds 15 % of its peak, delay included: `[direction][channel]`.
  package var onsets: [Double] {
    (0..<count).map { response in
      let samples = values[response * frames..<(response + 1) * frames]
      let peak = samples.lazy.map(abs).max() ?? 0
      let first = samples.firstIndex { abs($0) > 0.15 * peak } ?? samples.startIndex
      return Double(first - samples.startIndex) + delays[response]
    }
  }

  /// The first response that is all zero, or nil. Direction and channel count from 1, for messages.
  package var firstSilent: (direction: Int, channel: Int)? {
    (0..<count).first { response in
      values[response * frames..<(response + 1) * frames].allSatisfy { $0 == 0 }
    }.map { ($0 / channels + 1, $0 % channels + 1) }
  }
}

extension ImpulseResponses {
  /// Seconds kept before and after the onset, and length of the fade-out. The window is longer than any filter that is
  /// designed, yet short enough to exclude room reflections.
  private static let (before, after, fade) = (0.002, 0.0107, 0.001)

  /// Truncates the responses to a window around `origin`. If the end is truncated, it is faded out.
  /// - Parameters:
  ///   - origin: the frame at which sound passes the device's origin.
  ///   - reach: maximum time, in seconds, by which sound reaches a microphone earlier or later than the origin.
  /// - Returns: the truncated responses, and the index of their first frame in the original ones.
  package func truncated(around origin: Double, reach: Double) -> (ImpulseResponses, first: Int) {
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
    let truncated = ImpulseResponses(
      file: file, sampleRate: sampleRate, directions: directions, channels: channels, frames: length,
      values: values, delays: delays, remark: remark, receivers: receivers)
    return (truncated, first)
  }
}

extension ImpulseResponses {
  /// The responses of two ears with the left one first, as their positions say.
  package var leftEarFirst: ImpulseResponses {
    guard channels == 2, receivers.count == 2, receivers[0].y < 0, receivers[1].y > 0 else { return self }
    let order = directions.indices.flatMap { [2 * $0 + 1, 2 * $0] }
    return ImpulseResponses(
      file: file, sampleRate: sampleRate, directions: directions, channels: channels, frames: frames,
      values: order.flatMap { values[$0 * frames..<($0 + 1) * frames] }, delays: order.map { delays[$0] },
      remark: remark, receivers: receivers.reversed())
  }
}
