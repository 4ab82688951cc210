import Acoustics
import Foundation

/// Random gain and position errors of the microphones: how a built array may differ from its description.
package struct ArrayErrors: Sendable {
  /// Gain error of each microphone in decibels, uniformly distributed.
  package static let gainRange = -1.0...1.0
  /// Position error along each axis in metres, uniformly distributed.
  package static let offsetRange = -0.001...0.001
  /// Number of random draws from which a report computes losses.
  package static let drawCount = 30

  /// Amplitude factor of each microphone.
  package let gains: [Double]
  /// Displacement of each microphone, in metres.
  package let offsets: [Position]

  /// Draws the errors of `microphones` microphones. Equal seeds produce equal errors.
  package init(microphones: Int, seed: UInt64) {
    var random = SplitMix64(state: seed)
    gains = (0..<microphones).map { _ in pow(10, random.next(in: Self.gainRange) / 20) }
    offsets = (0..<microphones).map { _ in
      let (x, y) = (random.next(in: Self.offsetRange), random.next(in: Self.offsetRange))
      return [x, y, random.next(in: Self.offsetRange)]
    }
  }
}

/// SplitMix64 pseudorandom number generator.
/// - Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014).
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
