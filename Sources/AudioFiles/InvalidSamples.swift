/// Samples that no microphone delivers: NaN, infinity, and what is above +60 dBFS. A running Pinna mutes a microphone
/// that sends them.
public struct InvalidSamples: Sendable {
  /// The number in each channel.
  public private(set) var counts: [Int]
  /// The first frame with one in each channel.
  public private(set) var first: [Int?]

  public var total: Int { counts.reduce(0, +) }

  public init(channels: Int) {
    counts = [Int](repeating: 0, count: channels)
    first = [Int?](repeating: nil, count: channels)
  }

  /// The limit is that of `MicrophoneGuard`.
  @inlinable
  public static func isValid(_ sample: Float) -> Bool { sample.magnitude <= 1000 }

  /// The sum of the squares of those that are valid.
  public static func energy(_ samples: [Float]) -> Double {
    samples.reduce(0) { $0 + (isValid($1) ? Double($1) * Double($1) : 0) }
  }

  /// "front has 3 invalid samples (NaN, infinity or above +60 dBFS), first at 0.5 s"
  /// - Parameter seconds: to the first one.
  public static func sentence(about name: String, count: Int, seconds: Double) -> String {
    "\(name) has \(count) invalid sample\(count == 1 ? "" : "s") (NaN, infinity or above +60 dBFS), first at "
      + "\((seconds * 100).rounded() / 100) s"
  }

  /// Counts those in interleaved frames.
  /// - Parameter frame: of the first one.
  mutating func add(_ interleaved: [Float], from frame: Int) {
    guard !interleaved.allSatisfy(Self.isValid) else { return }
    for (n, sample) in interleaved.enumerated() where !Self.isValid(sample) {
      let (offset, channel) = n.quotientAndRemainder(dividingBy: counts.count)
      counts[channel] += 1
      first[channel] = first[channel] ?? frame + offset
    }
  }
}
