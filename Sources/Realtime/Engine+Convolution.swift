// MARK: - Realtime thread

/// From the input history to left and right: one setting, or a crossfade between two.
extension Engine {
  /// Computes the outputs of one period. A period that nothing was prepared for is silent.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func convolve(_ period: borrowing Period) {
    let frames = period.frames
    state.pointee.isFormingTail = false
    let target = Stereo(period.left, period.right)
    guard let convolver = state.pointee.convolver,
      convolver._withUnsafeGuaranteedRef({ $0.fits(frames: frames) })
    else { return outputSilence(nil, target, frames: frames, isUnprepared: true) }
    let live = state.pointee.live
    let (filters, others) = (state.pointee.current?.filters, state.pointee.next?.filters)
    guard convolver._withUnsafeGuaranteedRef({ $0.advance(live, filters, others) }) else {
      return outputSilence(nil, target, frames: frames, isUnprepared: true)
    }
    guard areTailsReady(convolver) else {
      convolver._withUnsafeGuaranteedRef { $0.playUnheard(filters, others) }
      return outputSilence(nil, target, frames: frames, isUnprepared: true)
    }
    if let next = state.pointee.next {
      state.pointee.isFormingTail = !isReady(convolver, for: next)
      if !state.pointee.isFormingTail { return crossfade(convolver, to: next, target, frames: frames) }
    }
    convolveSingle(convolver, state.pointee.current, target, frames: frames)
    let gain = state.pointee.current?.gain ?? 0
    scale(target.left, by: gain, count: frames)
    scale(target.right, by: gain, count: frames)
  }

  /// Whether the tails of all settings that are heard are complete. In a new convolver they may not be, if the control
  /// side prepared it for other settings.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func areTailsReady(_ convolver: Unmanaged<Convolver>) -> Bool {
    if let filters = state.pointee.current?.filters,
      !convolver._withUnsafeGuaranteedRef({ $0.isReady(filters) })
    {
      return false
    }
    guard state.pointee.fadePosition > 0, let filters = state.pointee.next?.filters else { return true }
    return convolver._withUnsafeGuaranteedRef { $0.isReady(filters) }
  }

  /// Whether the fade to `next` may proceed. A fade that has begun continues, whatever it costs. A filter set that is
  /// already audible needs no preparation.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func isReady(_ convolver: Unmanaged<Convolver>, for next: FilterSetting) -> Bool {
    if state.pointee.fadePosition > 0 { return true }
    let filters = next.filters
    if let current = state.pointee.current, current.filters.toOpaque() == filters.toOpaque() { return true }
    return convolver._withUnsafeGuaranteedRef { $0.isReady(filters) }
  }

  /// Computes one setting, without its gain; nil is silence. Also computes the tail of the next set if needed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func convolveSingle(
    _ convolver: Unmanaged<Convolver>, _ setting: FilterSetting?, _ target: Stereo, frames: Int
  ) {
    let forming = state.pointee.isFormingTail ? state.pointee.next?.filters : nil
    let filters = setting?.filters ?? forming
    guard let filters else { return outputSilence(convolver, target, frames: frames, isUnprepared: false) }
    let (heard, others) = (setting == nil ? nil : target, setting == nil ? nil : forming)
    let played = convolver._withUnsafeGuaranteedRef {
      $0.synthesise(filters, to: heard, others, to: nil)
    }
    if !played {
      outputSilence(convolver, target, frames: frames, isUnprepared: true)
    } else if setting == nil {
      target.left.clear(count: frames)
      target.right.clear(count: frames)
    }
  }

  /// Outputs silence.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - convolver: its voices start over; nil if they go on.
  ///   - isUnprepared: whether a sound should have been heard; counts the period.
  @_noLocks @_noAllocation
  private func outputSilence(
    _ convolver: Unmanaged<Convolver>?, _ target: Stereo, frames: Int, isUnprepared: Bool
  ) {
    convolver?._withUnsafeGuaranteedRef { $0.stopVoices() }
    if isUnprepared { counters.unpreparedPeriods.wrappingAdd(1, ordering: .relaxed) }
    target.left.clear(count: frames)
    target.right.clear(count: frames)
  }

  /// Computes the current setting and `next`, and mixes them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func crossfade(
    _ convolver: Unmanaged<Convolver>, to next: FilterSetting, _ target: Stereo, frames: Int
  ) {
    let gain = state.pointee.current?.gain ?? 0
    var old = Stereo(oldLeft.floats, oldRight.floats)
    if let current = state.pointee.current, current.filters.toOpaque() != next.filters.toOpaque() {
      let (filters, others) = (current.filters, next.filters)
      let targets = (old, target)
      let played = convolver._withUnsafeGuaranteedRef {
        $0.synthesise(filters, to: targets.0, others, to: targets.1)
      }
      if !played {
        outputSilence(convolver, target, frames: frames, isUnprepared: true)
        old = target
      }
    } else {
      // A change of gain alone, or from silence, needs no second convolution.
      convolveSingle(convolver, next, target, frames: frames)
      old = target
    }
    let position = state.pointee.fadePosition
    fade.mix(target.left, gain: next.gain, with: old.left, gain: gain, position: position, count: frames)
    fade.mix(target.right, gain: next.gain, with: old.right, gain: gain, position: position, count: frames)
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
