/// Reproducible random numbers (SplitMix64).
public struct SeededNoise: RandomNumberGenerator {
  private var state: UInt64
  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// White noise, uniform within ±`amplitude`.
  public mutating func samples(_ count: Int, amplitude: Float = 1) -> [Float] {
    (0..<count).map { _ in Float.random(in: -amplitude...amplitude, using: &self) }
  }

  /// Noise filters. Shape: `[output][microphone][tap]`.
  public mutating func filters(microphones: Int, taps: Int) -> [[[Float]]] {
    (0..<2).map { _ in (0..<microphones).map { _ in samples(taps) } }
  }
}
