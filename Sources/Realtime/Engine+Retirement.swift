import Synchronization

/// The end of an engine when the server leaves its sample rate. Its filters would sound wrong from then on, and no frame
/// of another rate may enter a take: it fades out and stays silent. It never resumes, even if the rate returns, so that a
/// take has no hole.
extension Engine {
  /// Whether the engine is retired: silent for good, because the server has left its sample rate.
  ///
  /// Thread: any.
  public var isRetired: Bool { counters.isRetired.load(ordering: .acquiring) }

  // MARK: - Realtime thread

  /// Retires the engine if the period has another sample rate.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: whether the engine is retired.
  @_noLocks @_noAllocation
  func retire(by timing: Timing) -> Bool {
    if state.pointee.isRetired { return true }
    guard timing.sampleRate != 0, timing.sampleRate != Int(sampleRate) else { return false }
    state.pointee.isRetired = true
    // Releasing: the control side ends the take when it sees this, so all frames must be in the ring.
    counters.isRetired.store(true, ordering: .releasing)
    return true
  }

  /// Fades the outputs to silence over the length of a crossfade, and keeps them silent.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func fadeOut(_ period: borrowing Period) {
    let position = state.pointee.retiredFrames
    let frames = period.frames
    var feed = 0
    while feed < state.pointee.feedsEnd {
      var n = 0
      while n < feeds.states[feed].outputs {
        if let samples = output(feed, n, period) {
          fade.mix(samples, gain: 0, with: samples, gain: 1, position: position, count: frames)
        }
        n &+= 1
      }
      feed &+= 1
    }
    state.pointee.retiredFrames &+= frames
  }
}
