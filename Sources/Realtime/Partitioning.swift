/// How a convolution is cut for one period: uniform partitions of one period each, overlap-save.
///
/// The transform is the next power of two from two periods on, so that any period works: of a window of the
/// last `transformSize` frames, the last `period` outputs are free of wrap-around.
public struct Partitioning: Hashable, Sendable {
  public static let longestPeriod = 8192
  public static let mostMicrophones = 64

  public let microphones: Int
  public let taps: Int
  public let period: Int
  let transformSize: Int
  let partitions: Int
  /// Bins 0…transformSize/2, rounded up to whole vectors.
  let binStride: Int

  public init(microphones: Int, taps: Int, period: Int) {
    precondition((1...Self.mostMicrophones).contains(microphones) && taps >= 1)
    precondition((1...Self.longestPeriod).contains(period))
    self.microphones = microphones
    self.taps = taps
    self.period = period
    var size = 16
    while size < 2 * period { size *= 2 }
    transformSize = size
    partitions = (taps + period - 1) / period
    binStride = (size / 2 + 1 + 7) / 8 * 8
    spectrumFloats = 2 * binStride
  }

  /// Floats of one microphone's spectrum: real parts, then imaginary parts.
  let spectrumFloats: Int
}
