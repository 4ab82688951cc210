import Synchronization

// MARK: - Realtime thread

/// Filters that follow the sound, on `main`: how they come in place of the linear ones in force (the base), and leave again.
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

  /// Begins a fade to the newest filters that follow the sound, or back to the base. Changes and substitutions that wait go
  /// first.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func adapt(_ frames: Int) {
    guard let stream = unmanagedStream, feeds.states[0].next == nil, let current = feeds.states[0].current
    else { return }
    switch stream._withUnsafeGuaranteedRef({ $0.takeMessage() }) {
    case .adopt(let slot):
      if isHeard(slot, stream, for: current) { return adopt(slot, stream, current) }
      stream._withUnsafeGuaranteedRef { $0.release(slot) }
    case .returnToBase: return fadeToBase(current)
    case .none: break
    }
    guard current.slot >= 0, isLate(frames) else { return }
    stream._withUnsafeGuaranteedRef { $0.countLate() }
    fadeToBase(current)
  }

  /// Whether a slot's filters were computed for the linear ones in force, and can be heard at once.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isHeard(_ slot: Int, _ stream: Unmanaged<FilterStream>, for current: FilterSetting) -> Bool {
    if let convolver = state.pointee.convolver, convolver._withUnsafeGuaranteedRef({ $0.hasTail() }) {
      return false
    }
    let serial = current.base._withUnsafeGuaranteedRef { $0.serial }
    return stream._withUnsafeGuaranteedRef { $0.base(ofSlot: slot) } == serial
  }

  /// Whether nothing was taken up for 100 ms, and for two periods.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isLate(_ frames: Int) -> Bool {
    state.pointee.frame &- state.pointee.adoptionFrame >= max(Int(0.1 * sampleRate), 2 &* frames)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func adopt(_ slot: Int, _ stream: Unmanaged<FilterStream>, _ current: FilterSetting) {
    let filters = stream._withUnsafeGuaranteedRef { $0.filters(ofSlot: slot) }
    state.pointee.adoptionFrame = state.pointee.frame
    stream._withUnsafeGuaranteedRef { $0.setAdapted(true) }
    beginAdaptation(current.adapted(to: filters, slot: slot))
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func fadeToBase(_ current: FilterSetting) {
    if current.slot >= 0 { beginAdaptation(current.adapted(to: current.base, slot: -1)) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func beginAdaptation(_ setting: FilterSetting) {
    feeds.states[0].next = setting
    feeds.states[0].fadePosition = 0
  }

  /// The fade to a setting: a short one to filters that follow the sound.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func fade(to next: FilterSetting) -> Crossfade { next.slot >= 0 ? adaptedFade : fade }

  /// Gives back the filters that `current` has played, after the fade from them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endAdaptation(of current: FilterSetting, to next: FilterSetting) {
    guard current.slot >= 0, let stream = unmanagedStream else { return }
    let (slot, isAdapted) = (current.slot, next.slot >= 0)
    stream._withUnsafeGuaranteedRef {
      $0.release(slot)
      $0.setAdapted(isAdapted)
    }
  }

  /// Plays the base at once: a convolver with a tail has prepared nothing else.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func playBase() {
    guard let stream = unmanagedStream else { return }
    let state = feeds.states
    if let next = state.pointee.next, next.isAdaptation {
      state.pointee.next = nil
      release(next, stream)
    }
    if let current = state.pointee.current, current.slot >= 0 {
      state.pointee.current = current.adapted(to: current.base, slot: -1)
      release(current, stream)
    }
    stream._withUnsafeGuaranteedRef { $0.setAdapted(false) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func release(_ setting: FilterSetting, _ stream: Unmanaged<FilterStream>) {
    if setting.slot >= 0 { stream._withUnsafeGuaranteedRef { $0.release(setting.slot) } }
  }
}
