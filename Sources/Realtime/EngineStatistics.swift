import Synchronization

/// Counters that the callback keeps and anyone reads. Relaxed: each stands for itself.
struct EngineCounters: ~Copyable {
  let frames = Atomic<Int>(0)
  let recording = Atomic<Bool>(false)
  let rejectedSamples = Atomic<Int>(0)
  let clippedSamples = Atomic<Int>(0)
  let unpreparedPeriods = Atomic<Int>(0)
}

public struct EngineStatistics: Hashable, Sendable {
  /// Frames processed since the engine was made.
  public let frames: Int
  public let recording: Bool
  /// Microphone samples that were not finite, or 60 dB over full scale.
  public let rejectedSamples: Int
  /// Output samples beyond full scale.
  public let clippedSamples: Int
  /// Periods that came with a length that nothing had been prepared for, and were silent.
  public let unpreparedPeriods: Int

  public init(
    frames: Int = 0, recording: Bool = false, rejectedSamples: Int = 0, clippedSamples: Int = 0,
    unpreparedPeriods: Int = 0
  ) {
    self.frames = frames
    self.recording = recording
    self.rejectedSamples = rejectedSamples
    self.clippedSamples = clippedSamples
    self.unpreparedPeriods = unpreparedPeriods
  }
}
