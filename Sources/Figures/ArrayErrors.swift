import Acoustics
import Glibc
import Numerics

/// Random errors of the microphones: how a built array may differ from its description.
package struct ArrayErrors: Sendable {
  /// Gain error of each microphone in decibels, uniformly distributed: as built, and after a calibration.
  package static let gainRange = -1.0...1.0
  package static let calibratedGainRange = -0.2...0.2
  /// Position error along each axis in metres, uniformly distributed.
  package static let offsetRange = -0.001...0.001
  /// Corner frequency of the array's microphones in hertz, and the factor by which each one's differs, uniformly
  /// distributed. A MEMS microphone is a first-order high-pass; where corners differ, so do phases at low frequencies.
  package static let cornerRange = 20.0...60.0
  package static let cornerFactorRange = 0.7...1.3
  /// Default number of random draws from which a report computes losses.
  package static let drawCount = 30

  /// Amplitude factor of each microphone.
  package let gains: [Double]
  /// Displacement of each microphone, in metres.
  package let offsets: [Position]
  /// Corner frequency of each microphone, and the one that all should have, in hertz.
  package let corners: [Double]
  package let nominalCorner: Double

  /// Draws the errors of `microphones` microphones. Equal seeds produce equal errors.
  package init(microphones: Int, seed: UInt64, isCalibrated: Bool = false) {
    var random = SplitMix64(state: seed)
    let gainRange = isCalibrated ? Self.calibratedGainRange : Self.gainRange
    gains = (0..<microphones).map { _ in pow(10, random.next(in: gainRange) / 20) }
    offsets = (0..<microphones).map { _ in
      let (x, y) = (random.next(in: Self.offsetRange), random.next(in: Self.offsetRange))
      return [x, y, random.next(in: Self.offsetRange)]
    }
    let corner = random.next(in: Self.cornerRange)
    nominalCorner = corner
    corners = (0..<microphones).map { _ in corner * random.next(in: Self.cornerFactorRange) }
  }

  /// The factor by which microphone `index` differs from what it should pick up at `frequency`, in hertz, apart from its
  /// displacement: gain, and the ratio of two first-order high-passes.
  package func factor(_ index: Int, at frequency: Double) -> Complex {
    gains[index] * (Complex(nominalCorner, frequency) / Complex(corners[index], frequency))
  }
}

extension SplitMix64 {
  fileprivate mutating func next(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + Double(next() >> 11) / 0x1p53 * (range.upperBound - range.lowerBound)
  }
}
