import Acoustics
import Foundation

/// The frequencies and lengths of a design at one sample rate.
package struct DesignGrid: Sendable, Equatable {
  package static let sampleRates = 8000...192_000

  package let sampleRate: Int
  private let parameters: DesignParameters.Grid
  /// Length of the Fourier transform behind the bins: 1024 up to 48 kHz, doubled with the rate above.
  package let length: Int
  /// Length of the FIR filters: 256 at 48 kHz, always a multiple of 8.
  package let tapCount: Int
  /// Modelling delay: 64 frames at 48 kHz.
  package let delayFrames: Int

  package init(sampleRate: Int, parameters: DesignParameters.Grid = .init()) {
    self.sampleRate = sampleRate
    self.parameters = parameters
    var length = parameters.transformLength
    while sampleRate > 48_000 * (length / parameters.transformLength) { length *= 2 }
    self.length = length
    tapCount = 8 * ((parameters.tapCount / 8 * sampleRate + 47_999) / 48_000)
    delayFrames = Int((Double(parameters.delay) * Double(sampleRate) / 48_000).rounded())
  }

  /// Bins 0...length/2.
  package var binCount: Int { length / 2 + 1 }
  package var binWidth: Double { Double(sampleRate) / Double(length) }
  package func frequency(_ bin: Int) -> Double { Double(bin) * binWidth }

  /// Bins that are designed: those up to the highest frequency, or up to half the sample rate where that is lower.
  package var designedBinCount: Int { min(binCount, Int(parameters.highestFrequency.value / binWidth) + 1) }
  /// Frequencies of the designed bins in hertz.
  package var frequencies: [Double] { (0..<designedBinCount).map(frequency) }

  /// Frames over which filters fade out at their end.
  var fadeOutFrames: Int { max(8, Int(parameters.fadeOut * Double(tapCount))) }
  /// Frames over which filters fade in.
  var fadeInFrames: Int { min(fadeOutFrames, max(Int(parameters.fadeIn * Double(delayFrames)), 1)) }

  /// The bin next to `frequency`.
  package func bin(nearest frequency: Double) -> Int {
    min(binCount - 1, Int((frequency / binWidth).rounded()))
  }
}
