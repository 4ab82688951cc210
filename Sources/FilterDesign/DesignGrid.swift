import Foundation

/// The frequencies and lengths of a design at one sample rate.
package struct DesignGrid: Sendable, Equatable {
  package static let sampleRates = 8000...192_000
  /// Designs reach this frequency, or half the sample rate where that is lower.
  package static let highestFrequency = 20_000.0

  package let sampleRate: Int
  /// Length of the Fourier transform behind the bins: 1024 up to 48 kHz, doubled with the rate above.
  package let length: Int
  /// Length of the FIR filters: 256 at 48 kHz, always a multiple of 8.
  package let tapCount: Int
  /// Modelling delay: 64 frames at 48 kHz.
  package let delayFrames: Int

  package init(sampleRate: Int) {
    self.sampleRate = sampleRate
    var length = 1024
    while sampleRate > 48_000 * (length / 1024) { length *= 2 }
    self.length = length
    tapCount = 8 * ((32 * sampleRate + 47_999) / 48_000)
    delayFrames = Int((64 * Double(sampleRate) / 48_000).rounded())
  }

  /// Bins 0...length/2.
  package var binCount: Int { length / 2 + 1 }
  package var binWidth: Double { Double(sampleRate) / Double(length) }
  package func frequency(_ bin: Int) -> Double { Double(bin) * binWidth }

  /// Bins that are designed: those up to `highestFrequency`.
  package var designedBinCount: Int { min(binCount, Int(Self.highestFrequency / binWidth) + 1) }
  /// Frequencies of the designed bins in hertz.
  package var frequencies: [Double] { (0..<designedBinCount).map(frequency) }

  /// The bin next to `frequency`.
  package func bin(nearest frequency: Double) -> Int {
    min(binCount - 1, Int((frequency / binWidth).rounded()))
  }
}
