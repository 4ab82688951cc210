import Synchronization

// MARK: - Realtime thread

/// Filters that follow the sound: how they come in place of a feed's linear ones in force (the base), and leave again.
extension Engine {
  /// Gives the worker the microphones of this period, as the engine hears them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func tapMicrophones(_ frames: Int) {
    guard let stream = unmanagedStream else { return }
    let (live, kept) = (state.pointee.live, min(frames, longestPeriod))
    stream._withUnsafeGuaranteedRef { $0.append(kept, of: live) }
  }

  /// Begins fades to the newest filters that follow the sound, or back to the base.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func adapt(_ frames: Int) {
    var feed = 0
    while feed < state.pointee.feedsEnd {
      adapt(feed, frames)
      feed &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func adapt(_ feed: Int, _ frames: Int) {
    let own = feeds.states + feed
    guard own.pointee.next == nil, !beginRequestedAdaptation(feed), let lane = own.pointee.lane,
      let current = own.pointee.current,
      current.slot >= 0, isLate(own, frames)
    else { return }
    lane._withUnsafeGuaranteedRef { $0.countLate() }
    fadeToBase(own, current)
  }

  /// Begins the adaptation that the worker requested last. No fade may be in progress.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: whether a fade has begun.
  @_noLocks @_noAllocation
  func beginRequestedAdaptation(_ feed: Int) -> Bool {
    let own = feeds.states + feed
    guard let lane = own.pointee.lane, let current = own.pointee.current else { return false }
    switch lane._withUnsafeGuaranteedRef({ $0.takeMessage() }) {
    case .adopt(let slot):
      if isHeard(slot, lane, for: current),
        let filters = lane._withUnsafeGuaranteedRef({ $0.filters(ofSlot: slot) })
      {
        own.pointee.adoptionFrame = state.pointee.frame
        lane._withUnsafeGuaranteedRef { $0.setAdapted(true) }
        beginAdaptation(own, current.adapted(to: filters, slot: slot))
        return true
      }
      lane._withUnsafeGuaranteedRef { $0.release(slot) }
      return false
    case .returnToBase:
      fadeToBase(own, current)
      return current.slot >= 0
    case .none: return false
    }
  }

  /// Whether a slot's filters were computed for the setting in force, perhaps before it turned, and can be heard at once.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isHeard(_ slot: Int, _ lane: Unmanaged<FilterLane>, for current: FilterSetting) -> Bool {
    if let convolver = state.pointee.convolver, convolver._withUnsafeGuaranteedRef({ $0.hasTail() }) {
      return false
    }
    let serial = current.base._withUnsafeGuaranteedRef { $0.serial }
    if lane._withUnsafeGuaranteedRef({ $0.base(ofSlot: slot) }) == serial { return true }
    return current.hasLineage(lane._withUnsafeGuaranteedRef { $0.lineage(ofSlot: slot) })
  }

  /// Whether nothing was taken up for 100 ms, and for two periods.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isLate(_ own: UnsafeMutablePointer<FeedState>, _ frames: Int) -> Bool {
    state.pointee.frame &- own.pointee.adoptionFrame >= max(Int(0.1 * sampleRate), 2 &* frames)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func fadeToBase(_ own: UnsafeMutablePointer<FeedState>, _ current: FilterSetting) {
    if current.slot >= 0 { beginAdaptation(own, current.adapted(to: current.base, slot: -1)) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func beginAdaptation(_ own: UnsafeMutablePointer<FeedState>, _ setting: FilterSetting) {
    own.pointee.next = setting
    own.pointee.fadePosition = 0
  }

  /// The fade to a setting: a short one to newer filters that follow the sound, and where they only stay.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func fade(to next: FilterSetting) -> Crossfade {
    next.slot >= 0 && (next.isAdaptation || next.keepsFiltersAndGain) ? adaptedFade : fade
  }

  /// Gives back the filters that `current` has played on a feed, after the fade from them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endAdaptation(_ feed: Int, of current: FilterSetting, to next: FilterSetting) {
    guard current.slot >= 0, current.slot != next.slot, let lane = feeds.states[feed].lane else { return }
    let (slot, isAdapted) = (current.slot, next.slot >= 0)
    lane._withUnsafeGuaranteedRef {
      $0.release(slot)
      $0.setAdapted(isAdapted)
    }
  }

  /// Plays the base of every feed at once: a convolver with a tail has prepared nothing else.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func playBase() {
    var feed = 0
    while feed < state.pointee.feedsEnd {
      if let lane = feeds.states[feed].lane { playBase(feeds.states + feed, lane) }
      feed &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func playBase(_ own: UnsafeMutablePointer<FeedState>, _ lane: Unmanaged<FilterLane>) {
    if let next = own.pointee.next {
      own.pointee.next = next.isAdaptation ? nil : next.linear()
      if next.isAdaptation { release(next, lane) }
    }
    if let current = own.pointee.current, current.slot >= 0 {
      own.pointee.current = current.linear()
      release(current, lane)
    }
    lane._withUnsafeGuaranteedRef { $0.setAdapted(false) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func release(_ setting: FilterSetting, _ lane: Unmanaged<FilterLane>) {
    if setting.slot >= 0 { lane._withUnsafeGuaranteedRef { $0.release(setting.slot) } }
  }
}
