/// How a convolution is partitioned for one period: overlap-save with partitions of one period each. `ConvolverLayout`
/// says how old partitions of long filters are convolved.
///
/// The transform size is the smallest power of two of at least two periods, so any period works. Of a window of the
/// last `transformSize` frames, the last `period` outputs are free of wrap-around.
public struct Partitioning: Hashable, Sendable {
  /// In frames.
  public static let longestPeriod = 8192
  public static let mostMicrophones = 64

  public let microphones: Int
  public let taps: Int
  /// In frames.
  public let period: Int
  let transformSize: Int
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
    transformSize = size
    partitions = (taps + period - 1) / period
  }
}
