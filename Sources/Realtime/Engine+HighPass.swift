// MARK: - Realtime thread

/// The high-pass of the outputs, after filters and gain. A change of its corner is a crossfade between the outputs of
/// two high-passes, at the same position as that of the filters.
extension Engine {
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func applyHighPasses(_ period: borrowing Period) {
    // Longer periods are silent, and the work areas have no room for them.
    guard period.frames <= longestPeriod else { return }
    var feed = 0
    while feed < state.pointee.feedsEnd {
      var pair = 0
      while pair < feeds.states[feed].pairs {
        applyHighPass(feed, pair, outputs(feed, pair: pair, period), period.frames)
        pair &+= 1
      }
      feed &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func applyHighPass(_ feed: Int, _ pair: Int, _ target: OutputPair, _ frames: Int) {
    let state = feeds.states + feed
    let memory = feeds.highPassMemory(feed, pair: pair)
    guard let current = state.pointee.current else {
      guard let next = state.pointee.next else { return }
      return next.highPass.process(target, count: frames, memory: &memory[0])
    }
    guard !state.pointee.isFormingTail, let next = state.pointee.next,
      !current.highPass.equals(next.highPass)
    else {
      return current.highPass.process(target, count: frames, memory: &memory[0])
    }
    // `convolve` has read its work areas: they are free.
    let old = OutputPair(oldLeft.floats, oldRight.floats)
    old.left.copy(from: target.left, count: frames)
    old.right.copy(from: target.right, count: frames)
    current.highPass.process(old, count: frames, memory: &memory[0])
    next.highPass.process(target, count: frames, memory: &memory[1])
    let position = state.pointee.fadePosition
    fade.mix(target.left, gain: 1, with: old.left, gain: 1, position: position, count: frames)
    fade.mix(target.right, gain: 1, with: old.right, gain: 1, position: position, count: frames)
  }

  /// Keeps the memory of the high-pass that is in force from now on. Called before `next` becomes the current setting.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endHighPassFade(_ feed: Int, to next: FilterSetting) {
    let state = feeds.states + feed
    guard let current = state.pointee.current, !current.highPass.equals(next.highPass) else { return }
    var pair = 0
    while pair < state.pointee.pairs {
      let memory = feeds.highPassMemory(feed, pair: pair)
      memory[0] = memory[1]
      memory[1] = HighPassFilter.Memory()
      pair &+= 1
    }
  }
}
