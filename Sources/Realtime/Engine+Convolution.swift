/// The callback's: microphones through the convolver, one sound or the fade from one to the next.
extension Engine {
  @_noLocks @_noAllocation
  func convolve(_ period: borrowing Period) {
    let frames = period.frames
    state.pointee.isGettingReady = false
    guard let convolver = state.pointee.convolver,
      convolver._withUnsafeGuaranteedRef({ $0.fits(frames: frames) })
    else {
      period.left.clear(count: period.frames)
      period.right.clear(count: period.frames)
      counters.unpreparedPeriods.wrappingAdd(1, ordering: .relaxed)
      state.pointee.isBehind = true
      return
    }
    let record = history.pointee.record
    if state.pointee.isBehind {
      convolver._withUnsafeGuaranteedRef { $0.refill(from: record) }
      state.pointee.isBehind = false
    } else {
      convolver._withUnsafeGuaranteedRef { $0.advance(record) }
    }
    let target = Stereo(period.left, period.right)
    if let next = state.pointee.next {
      state.pointee.isGettingReady = !isReady(convolver, for: next)
      if !state.pointee.isGettingReady { return crossfade(convolver, to: next, target, frames: frames) }
    }
    play(convolver, state.pointee.current, target, frames: frames)
    let gain = state.pointee.current?.gain ?? 0
    scale(target.left, by: gain, count: frames)
    scale(target.right, by: gain, count: frames)
  }

  /// A fade that has begun goes on, whatever it costs; what sounds already is as ready as it can be.
  @_noLocks @_noAllocation
  private func isReady(_ convolver: Unmanaged<Convolver>, for next: Sound) -> Bool {
    if state.pointee.fadePosition > 0 { return true }
    let filters = next.filters
    if let current = state.pointee.current, current.filters.toOpaque() == filters.toOpaque() { return true }
    return convolver._withUnsafeGuaranteedRef { $0.isReady(filters) }
  }

  /// One sound at full gain, silence where there is none; what comes next gets ready meanwhile where it must.
  @_noLocks @_noAllocation
  private func play(_ convolver: Unmanaged<Convolver>, _ sound: Sound?, _ target: Stereo, frames: Int) {
    let following = state.pointee.isGettingReady ? state.pointee.next?.filters : nil
    let filters = sound?.filters ?? following
    guard let filters else { return silence(convolver, target, frames: frames) }
    let (heard, others) = (sound == nil ? nil : target, sound == nil ? nil : following)
    let played = convolver._withUnsafeGuaranteedRef {
      $0.synthesise(filters, to: heard, others, to: nil)
    }
    if !played {
      counters.unpreparedPeriods.wrappingAdd(1, ordering: .relaxed)
      silence(convolver, target, frames: frames)
    } else if sound == nil {
      target.left.clear(count: frames)
      target.right.clear(count: frames)
    }
  }

  @_noLocks @_noAllocation
  private func silence(_ convolver: Unmanaged<Convolver>, _ target: Stereo, frames: Int) {
    convolver._withUnsafeGuaranteedRef { $0.forget() }
    target.left.clear(count: frames)
    target.right.clear(count: frames)
  }

  @_noLocks @_noAllocation
  private func crossfade(_ convolver: Unmanaged<Convolver>, to next: Sound, _ target: Stereo, frames: Int) {
    let gain = state.pointee.current?.gain ?? 0
    var old = Stereo(oldLeft.floats, oldRight.floats)
    if let current = state.pointee.current, current.filters.toOpaque() != next.filters.toOpaque() {
      let (filters, others) = (current.filters, next.filters)
      let targets = (old, target)
      let played = convolver._withUnsafeGuaranteedRef {
        $0.synthesise(filters, to: targets.0, others, to: targets.1)
      }
      if !played {
        counters.unpreparedPeriods.wrappingAdd(1, ordering: .relaxed)
        silence(convolver, target, frames: frames)
        old = target
      }
    } else {
      // A change of gain alone, or from silence, needs no second product.
      play(convolver, next, target, frames: frames)
      old = target
    }
    let position = state.pointee.fadePosition
    fade.mix(target.left, gain: next.gain, with: old.left, gain: gain, position: position, count: frames)
    fade.mix(target.right, gain: next.gain, with: old.right, gain: gain, position: position, count: frames)
  }

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
