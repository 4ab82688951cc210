/// How a convolution is partitioned for one period: overlap-save with partitions of one period each. `ConvolverLayout`
/// says how old partitions of long filters are convolved.
///
/// A window is the smallest power of two of at least two periods, so any period works. Of its `windowFrames` frames, the
/// last `period` outputs are free of wrap-around. The FFT over time has half as many complex points (Analysis.swift).
public struct Partitioning: Hashable, Sendable {
  /// In frames.
  public static let longestPeriod = 8192
  public static let mostMicrophones = 64

  public let microphones: Int
  public let taps: Int
  /// In frames.
  public let period: Int
  /// Frames of the overlap-save window.
  let windowFrames: Int
  let partitions: Int

  /// Thread: any.
  public init(microphones: Int, taps: Int, period: Int) {
    precondition((1...Self.mostMicrophones).contains(microphones) && taps >= 1)
    precondition((1...Self.longestPeriod).contains(period))
    self.microphones = microphones
    self.taps = taps
    self.period = period
    var size = 32
    while size < 2 * period { size *= 2 }
    windowFrames = size
    partitions = (taps + period - 1) / period
  }
}
