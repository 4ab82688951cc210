import Glibc

/// A sampled signal that can be evaluated at any time and resampled to any rate.
///
/// Interpolation uses a Kaiser-windowed sinc. The passband ends at 0.45 of the lower of the two rates and the stopband
/// begins at 0.55, so aliases stay above 0.45. Ripple and stopband leakage are below -90 dB.
/// - Source: Smith, Digital Audio Resampling Home Page (CCRMA); Oppenheim and Schafer, ch. 7 (Kaiser's formulas).
public struct BandlimitedSignal: Sendable {
  public let sampleRate: Int
  public let frames: Int
  /// Half the length of the window, in samples of the lower rate.
  private static let halfWidth = 34
  /// Kaiser's β for 95 dB.
  private static let beta = 0.1102 * (95 - 8.7)
  /// Fractional delays per sample in the kernel table.
  private static let tableSize = 512
  private let samples: [Double]

  public init(samples: [Float], sampleRate: Int) {
    precondition(sampleRate > 0)
    self.sampleRate = sampleRate
    self.samples = samples.map(Double.init)
    frames = samples.count
  }

  /// Length in seconds.
  public var duration: Double { Double(frames) / Double(sampleRate) }

  /// The signal at the times `start + n / rate`, n = 0 ..< count. It is zero before its beginning and after its end.
  /// - Parameter start: seconds after the first sample; may be negative and may fall between samples.
  public func sampled(rate: Int, count: Int, start: Double) -> [Float] {
    precondition(rate > 0 && count >= 0)
    let cutoff = min(1, Double(rate) / Double(sampleRate))
    let reach = Int((Double(Self.halfWidth) / cutoff).rounded(.up))
    let divisor = Self.greatestCommonDivisor(rate, sampleRate)
    // Polyphase resampling: after `phases` output samples the same kernel recurs, `advance` input samples further on.
    let (phases, advance) = (rate / divisor, sampleRate / divisor)
    var result = [Float](repeating: 0, count: count)
    for phase in 0..<min(phases, count) {
      let position = (start + Double(phase) / Double(rate)) * Double(sampleRate)
      guard abs(position) < 1e15 else { continue }
      let whole = position.rounded(.down)
      let kernel = Self.kernel(fraction: position - whole, cutoff: cutoff, reach: reach)
      var first = Int(whole) - reach + 1
      for n in stride(from: phase, to: count, by: phases) {
        result[n] = Float(Self.dot(kernel, samples, from: first))
        first += advance
      }
    }
    return result
  }

  /// The signal at arbitrary `times`, in seconds after the first sample, for an output of `rate`. Used for moving
  /// sources.
  ///
  /// Kernels are interpolated linearly between table entries, with a relative error below 1e-5.
  public func sampled(rate: Int, at times: [Double]) -> [Float] {
    precondition(rate > 0)
    let cutoff = min(1, Double(rate) / Double(sampleRate))
    let reach = Int((Double(Self.halfWidth) / cutoff).rounded(.up))
    let table = (0...Self.tableSize).map {
      Self.kernel(fraction: Double($0) / Double(Self.tableSize), cutoff: cutoff, reach: reach)
    }
    return times.map { time in
      let position = time * Double(sampleRate)
      guard abs(position) < 1e15 else { return 0 }
      let whole = position.rounded(.down)
      let entry = (position - whole) * Double(Self.tableSize)
      let low = min(Int(entry), Self.tableSize - 1)
      let part = entry - Double(low)
      let first = Int(whole) - reach + 1
      guard first < frames, first + 2 * reach > 0 else { return 0 }
      return Float(
        (1 - part) * Self.dot(table[low], samples, from: first)
          + part * Self.dot(table[low + 1], samples, from: first))
    }
  }

  /// Weights of the samples `1 - reach ... reach`, relative to the last sample at or before the requested time.
  private static func kernel(fraction: Double, cutoff: Double, reach: Int) -> [Double] {
    (0..<2 * reach).map { tap in
      let distance = (Double(tap - reach + 1) - fraction) * cutoff
      let edge = distance / Double(halfWidth)
      guard abs(edge) < 1 else { return 0 }
      let sinc = distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance)
      return cutoff * sinc * besselI0(beta * (1 - edge * edge).squareRoot()) / besselI0(beta)
    }
  }

  /// Sum of `kernel[i] * samples[first + i]`, with `samples` taken as zero outside its bounds.
  private static func dot(_ kernel: [Double], _ samples: [Double], from first: Int) -> Double {
    let (low, high) = (max(0, -first), min(kernel.count, samples.count - first))
    guard low < high else { return 0 }
    return kernel.withUnsafeBytes { kernel in
      samples.withUnsafeBytes { samples in
        var sum = SIMD4<Double>.zero
        var index = low
        while index + 4 <= high {
          sum +=
            kernel.loadUnaligned(fromByteOffset: index * 8, as: SIMD4<Double>.self)
            * samples.loadUnaligned(fromByteOffset: (first + index) * 8, as: SIMD4<Double>.self)
          index += 4
        }
        var rest = 0.0
        while index < high {
          rest +=
            kernel.load(fromByteOffset: index * 8, as: Double.self)
            * samples.load(fromByteOffset: (first + index) * 8, as: Double.self)
          index += 1
        }
        return sum.sum() + rest
      }
    }
  }

  /// Modified Bessel function of the first kind, order zero, by its power series.
  private static func besselI0(_ x: Double) -> Double {
    var (sum, term, k) = (1.0, 1.0, 1.0)
    while term > sum * 1e-17 {
      term *= (x / (2 * k)) * (x / (2 * k))
      sum += term
      k += 1
    }
    return sum
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }
}
