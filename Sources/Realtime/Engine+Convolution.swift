import CRealtime
import Synchronization

// MARK: - Realtime thread

/// From the input history to the outputs of every feed: one setting, or a crossfade between two.
extension Engine {
  /// Computes the outputs of one period. Where no convolver can, it is played directly: work that is bounded, so that a feed
  /// beyond the bound is silent, and so is a period of more than `Partitioning.longestPeriod`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func convolve(_ period: borrowing Period) {
    let convolver = advanceConvolver(period.frames)
    var budget = period.frames <= longestPeriod ? direct.bound(frames: period.frames) : 0
    // A convolver that catches up computes two periods in each.
    if convolver == nil, isConvolverFit(period.frames) { budget /= 2 }
    var isUnprepared = false
    var feed = 0
    while feed < state.pointee.feedsEnd {
      if feeds.states[feed].outputs > 0, !convolve(feed, convolver, &budget, period) { isUnprepared = true }
      feed &+= 1
    }
    if isUnprepared { counters.unpreparedPeriods.wrappingAdd(1, ordering: .relaxed) }
  }

  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the convolver for periods of `frames`, with the spectra of the newest; nil if there is none.
  @_noLocks @_noAllocation
  private func advanceConvolver(_ frames: Int) -> Unmanaged<Convolver>? {
    guard isConvolverFit(frames), let convolver = state.pointee.convolver else { return nil }
    let (live, heard) = (state.pointee.live, heardFeeds())
    return convolver._withUnsafeGuaranteedRef({ $0.advance(live, heard) }) ? convolver : nil
  }

  /// Whether there is a convolver for periods of `frames`. It may have to catch up.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isConvolverFit(_ frames: Int) -> Bool {
    guard let convolver = state.pointee.convolver else { return false }
    return convolver._withUnsafeGuaranteedRef { $0.fits(frames: frames) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func heardFeeds() -> HeardFeeds { HeardFeeds(feeds.states, end: state.pointee.feedsEnd) }

  /// Computes the outputs of one feed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter budget: for what is played directly, in multiplications.
  /// - Returns: false if a sound should have been heard, and silence is.
  @_noLocks @_noAllocation
  private func convolve(
    _ feed: Int, _ convolver: Unmanaged<Convolver>?, _ budget: inout Int, _ period: borrowing Period
  ) -> Bool {
    let state = feeds.states + feed
    state.pointee.isFormingTail = false
    if let convolver {
      if areTailsReady(feed, convolver) {
        if let next = state.pointee.next {
          state.pointee.isFormingTail = !isReady(feed, convolver, for: next)
        }
        if play(feed, convolver, period) { return true }
        stopVoices(feed, convolver)
        state.pointee.isFormingTail = false
      } else {
        convolver._withUnsafeGuaranteedRef { $0.playUnheard(feed: feed, state) }
      }
    }
    let hasNext = state.pointee.next != nil
    if !hasNext, (state.pointee.current?.gain ?? 0) == 0 {
      clear(feed, period)
      return true
    }
    let work = direct.work(frames: period.frames, pairs: state.pointee.pairs)
    budget &-= hasNext ? 2 &* work : work
    if budget >= 0, play(feed, nil, period) { return true }
    clear(feed, period)
    return false
  }

  /// Plays what is heard on a feed: one setting, or a crossfade.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter convolver: nil to play directly.
  /// - Returns: false if a set was not prepared for `convolver`.
  @_noLocks @_noAllocation
  private func play(_ feed: Int, _ convolver: Unmanaged<Convolver>?, _ period: borrowing Period) -> Bool {
    let state = feeds.states + feed
    if let next = state.pointee.next, !state.pointee.isFormingTail {
      return crossfade(feed, convolver, to: next, period)
    }
    return playSteadily(feed, convolver, period)
  }

  /// Whether the tails of all settings that are heard on a feed are complete. In a new convolver they may not be, if the
  /// control side prepared it for other settings.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func areTailsReady(_ feed: Int, _ convolver: Unmanaged<Convolver>) -> Bool {
    let state = feeds.states + feed
    if let filters = state.pointee.current?.filters,
      !convolver._withUnsafeGuaranteedRef({ $0.isReady(filters, feed: feed) })
    {
      return false
    }
    guard state.pointee.fadePosition > 0, let filters = state.pointee.next?.filters else { return true }
    return convolver._withUnsafeGuaranteedRef { $0.isReady(filters, feed: feed) }
  }

  /// Whether the fade to `next` may proceed. A fade that has begun continues, whatever it costs. A filter set that is
  /// already audible needs no preparation.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isReady(_ feed: Int, _ convolver: Unmanaged<Convolver>, for next: FilterSetting) -> Bool {
    let state = feeds.states + feed
    if state.pointee.fadePosition > 0 { return true }
    let filters = next.filters
    if let current = state.pointee.current, current.filters.toOpaque() == filters.toOpaque() { return true }
    return convolver._withUnsafeGuaranteedRef { $0.isReady(filters, feed: feed) }
  }

  /// Plays the current setting of a feed; silence if there is none. Also computes the tail of the next set if needed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: as `play`.
  @_noLocks @_noAllocation
  private func playSteadily(
    _ feed: Int, _ convolver: Unmanaged<Convolver>?, _ period: borrowing Period
  ) -> Bool {
    let state = feeds.states + feed
    let setting = state.pointee.current
    let forming = state.pointee.isFormingTail ? state.pointee.next?.filters : nil
    guard let filters = setting?.filters ?? forming else {
      if let convolver { stopVoices(feed, convolver) }
      clear(feed, period)
      return true
    }
    let isHeard = setting != nil
    let gain = setting?.gain ?? 0
    var pair = 0
    while pair < state.pointee.pairs {
      let target = outputs(feed, pair: pair, period)
      let (heard, others) = (isHeard ? target : nil, isHeard ? forming : nil)
      guard synthesise(feed, convolver, pair: pair, filters, to: heard, others, to: nil, period.frames) else {
        return false
      }
      if isHeard {
        scale(target.left, by: gain, count: period.frames)
        scale(target.right, by: gain, count: period.frames)
      }
      pair &+= 1
    }
    if !isHeard { clear(feed, period) }
    return true
  }

  /// Plays the current setting of a feed and `next`, and mixes them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: as `play`.
  @_noLocks @_noAllocation
  private func crossfade(
    _ feed: Int, _ convolver: Unmanaged<Convolver>?, to next: FilterSetting, _ period: borrowing Period
  ) -> Bool {
    let state = feeds.states + feed
    let (current, position, frames) = (state.pointee.current, state.pointee.fadePosition, period.frames)
    let gain = current?.gain ?? 0
    let fade = fade(to: next)
    // A change of gain alone, or from silence, needs no second convolution.
    let isOne = current == nil || current?.filters.toOpaque() == next.filters.toOpaque()
    var pair = 0
    while pair < state.pointee.pairs {
      let target = outputs(feed, pair: pair, period)
      var old = target
      let played: Bool
      if let current, !isOne {
        old = OutputPair(oldLeft.floats, oldRight.floats)
        played = synthesise(
          feed, convolver, pair: pair, current.filters, to: old, next.filters, to: target, frames)
      } else {
        played = synthesise(feed, convolver, pair: pair, next.filters, to: target, nil, to: nil, frames)
      }
      guard played else { return false }
      fade.mix(target.left, gain: next.gain, with: old.left, gain: gain, position: position, count: frames)
      fade.mix(target.right, gain: next.gain, with: old.right, gain: gain, position: position, count: frames)
      pair &+= 1
    }
    return true
  }

  /// Computes one pair of a feed's outputs, as `Convolver.synthesise`, or directly where there is no convolver.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func synthesise(
    _ feed: Int, _ convolver: Unmanaged<Convolver>?, pair: Int, _ filters: Unmanaged<FilterSet>,
    to target: OutputPair?, _ others: Unmanaged<FilterSet>?, to otherTarget: OutputPair?, _ frames: Int
  ) -> Bool {
    if let convolver {
      return convolver._withUnsafeGuaranteedRef {
        $0.synthesise(feed: feed, pair: pair, filters, to: target, others, to: otherTarget)
      }
    }
    let history = state.pointee.live._withUnsafeGuaranteedRef { UnsafePointer($0.storage) }
    if let target { direct.play(filters, pair: pair, history, frames: frames, to: target) }
    if let others, let otherTarget {
      direct.play(others, pair: pair, history, frames: frames, to: otherTarget)
    }
    return true
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func stopVoices(_ feed: Int, _ convolver: Unmanaged<Convolver>) {
    let pairs = feeds.states[feed].pairs
    convolver._withUnsafeGuaranteedRef { $0.stopVoices(feed: feed, pairs: pairs) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func scale(_ samples: UnsafeMutablePointer<Float>, by gain: Float, count: Int) {
    guard gain != 1 else { return }
    var n = 0
    while n < count {
      samples[n] *= gain
      n &+= 1
    }
  }
}
