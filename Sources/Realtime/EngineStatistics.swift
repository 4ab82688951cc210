import Synchronization

/// Counters that the callback writes and any thread reads. Relaxed ordering: they are independent of each other.
struct EngineCounters: ~Copyable {
  let frames = Atomic<Int>(0)
  let recording = Atomic<Bool>(false)
  let rejectedSamples = Atomic<Int>(0)
  let clippedSamples = Atomic<Int>(0)
  let unpreparedPeriods = Atomic<Int>(0)
  let isRetired = Atomic<Bool>(false)
}

/// A snapshot of the engine's counters.
public struct EngineStatistics: Hashable, Sendable {
  /// Frames processed since the engine was created.
  public let frames: Int
  public let recording: Bool
  /// Invalid microphone samples: NaN, infinity, or above 60 dBFS.
  public let rejectedSamples: Int
  /// Output samples above full scale.
  public let clippedSamples: Int
  /// Periods that were silent because the engine was not prepared for their length.
  public let unpreparedPeriods: Int
  /// How often filters that follow the sound were given up because the next ones came late.
  public let lateAdaptations: Int

  /// Thread: any.
  public init(
    frames: Int = 0, recording: Bool = false, rejectedSamples: Int = 0, clippedSamples: Int = 0,
    unpreparedPeriods: Int = 0, lateAdaptations: Int = 0
  ) {
    self.frames = frames
    self.recording = recording
    self.rejectedSamples = rejectedSamples
    self.clippedSamples = clippedSamples
    self.unpreparedPeriods = unpreparedPeriods
    self.lateAdaptations = lateAdaptations
  }
}
