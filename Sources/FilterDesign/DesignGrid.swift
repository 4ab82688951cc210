import Acoustics

/// Frequencies, transform length and filter length of a design at one sample rate.
package struct DesignGrid: Sendable, Equatable {
  /// Supported sample rates in hertz.
  package static let sampleRates = 8000...192_000

  package let sampleRate: Int
  private let parameters: DesignParameters.Grid
  /// FFT length in frames: 1024 up to 48 kHz, doubled for each octave of sample rates above.
  package let length: Int
  /// Length of the FIR filters in taps: 256 at 48 kHz, always a multiple of 8.
  package let tapCount: Int
  /// Modelling delay: 64 frames at 48 kHz.
  package let delayFrames: Int
  /// The highest frequency at which the array is known, in hertz. Above it, filters roll off.
  private let highestKnown: Double

  /// - Parameter highestKnown: the highest frequency at which the array is known, in hertz.
  package init(
    sampleRate: Int, parameters: DesignParameters.Grid = .init(), highestKnown: Double = .infinity
  ) {
    self.sampleRate = sampleRate
    self.parameters = parameters
    self.highestKnown = highestKnown
    var length = parameters.transformLength
    while sampleRate > 48_000 * (length / parameters.transformLength) { length *= 2 }
    self.length = length
    tapCount = 8 * ((parameters.tapCount / 8 * sampleRate + 47_999) / 48_000)
    delayFrames = Int((Double(parameters.delay) * Double(sampleRate) / 48_000).rounded())
  }

  /// Number of bins from 0 Hz to the Nyquist frequency.
  package var binCount: Int { length / 2 + 1 }
  /// Bin spacing in hertz.
  package var binWidth: Double { Double(sampleRate) / Double(length) }
  /// Frequency of `bin` in hertz.
  package func frequency(_ bin: Int) -> Double { Double(bin) * binWidth }

  /// Number of designed bins: those up to the highest design frequency, the highest frequency at which the array is
  /// known, or the Nyquist frequency, whichever is lowest.
  package var designedBinCount: Int {
    min(binCount, Int(min(parameters.highestFrequency.value, highestKnown) / binWidth) + 1)
  }
  /// Frequencies of the designed bins in hertz.
  package var frequencies: [Double] { (0..<designedBinCount).map(frequency) }

  /// Factor on the magnitude of the last designed bin, for a bin above it: 1, or 12 dB less per octave if the array is
  /// not known there.
  func magnitudeAboveDesign(_ bin: Int) -> Double {
    guard highestKnown < parameters.highestFrequency.value else { return 1 }
    let ratio = Double(designedBinCount - 1) / Double(bin)
    return ratio * ratio
  }

  /// Length of the fade at the end of each filter, in frames.
  var fadeOutFrames: Int { max(8, Int(parameters.fadeOut * Double(tapCount))) }
  /// Length of the fade at the start of each filter, in frames.
  var fadeInFrames: Int { min(fadeOutFrames, max(Int(parameters.fadeIn * Double(delayFrames)), 1)) }
}
