import Acoustics
import Foundation

/// How a built array differs from its description: each microphone's gain and place.
package struct ArrayErrors: Sendable {
  /// Gains of all microphones are off by at most this, each evenly distributed.
  package static let gainRange = -1.0...1.0
  /// Positions are off by at most this along each axis, in metres.
  package static let offsetRange = -0.001...0.001
  /// Draws behind the losses of a report.
  package static let drawCount = 30

  /// Amplitude factor of each microphone.
  package let gains: [Double]
  /// Displacement of each microphone, in metres.
  package let offsets: [Position]

  /// The same `seed` draws the same errors.
  package init(microphones: Int, seed: UInt64) {
    var random = SplitMix64(state: seed)
    gains = (0..<microphones).map { _ in pow(10, random.next(in: Self.gainRange) / 20) }
    offsets = (0..<microphones).map { _ in
      let (x, y) = (random.next(in: Self.offsetRange), random.next(in: Self.offsetRange))
      return [x, y, random.next(in: Self.offsetRange)]
    }
  }
}

/// - Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators (2014).
private struct SplitMix64 {
  var state: UInt64

  mutating func next(in range: ClosedRange<Double>) -> Double {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    let part = Double((z ^ (z >> 31)) >> 11) / Double(1 << 53)
    return range.lowerBound + part * (range.upperBound - range.lowerBound)
  }
}
