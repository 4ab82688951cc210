import Numerics

/// Reproducible random numbers.
public struct SeededNoise: RandomNumberGenerator {
  private var generator: SplitMix64
  public init(seed: UInt64) { generator = SplitMix64(state: seed) }

  public mutating func next() -> UInt64 { generator.next() }

  /// White noise, uniform within ±`amplitude`.
  public mutating func samples(_ count: Int, amplitude: Float = 1) -> [Float] {
    (0..<count).map { _ in Float.random(in: -amplitude...amplitude, using: &self) }
  }

  /// White noise for several channels, `[channel][frame]`.
  public static func channels(_ count: Int, _ frames: Int, amplitude: Float = 1, seed: UInt64) -> [[Float]] {
    var noise = SeededNoise(seed: seed)
    return (0..<count).map { _ in noise.samples(frames, amplitude: amplitude) }
  }

  /// Noise filters. Shape: `[output][microphone][tap]`.
  public mutating func filters(microphones: Int, taps: Int) -> [[[Float]]] {
    (0..<2).map { _ in (0..<microphones).map { _ in samples(taps) } }
  }
}

extension SeededNoise {
  /// A second of noise per channel, whose first sample is not zero.
  public static func loop(channels: Int, seed: UInt64 = 21) -> [[Float]] {
    var noise = SeededNoise(seed: seed)
    return (0..<channels).map { _ in [0.25] + noise.samples(47_999, amplitude: 0.25) }
  }
}
