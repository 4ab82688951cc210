// MARK: - Realtime thread

/// The high-pass of the outputs, after filters and gain. A change of its corner is a crossfade between the outputs of
/// two high-passes, at the same position as that of the filters.
extension Engine {
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func applyHighPass(_ period: borrowing Period) {
    let target = Stereo(period.left, period.right)
    let frames = period.frames
    guard let current = state.pointee.current else {
      guard let next = state.pointee.next else { return }
      return next.highPass.process(target, count: frames, memory: &state.pointee.highPass)
    }
    guard !state.pointee.isFormingTail, let next = state.pointee.next,
      !current.highPass.equals(next.highPass)
    else {
      return current.highPass.process(target, count: frames, memory: &state.pointee.highPass)
    }
    // `convolve` has read its work areas: they are free.
    let old = Stereo(oldLeft.floats, oldRight.floats)
    old.left.copy(from: target.left, count: frames)
    old.right.copy(from: target.right, count: frames)
    current.highPass.process(old, count: frames, memory: &state.pointee.highPass)
    next.highPass.process(target, count: frames, memory: &state.pointee.nextHighPass)
    let position = state.pointee.fadePosition
    fade.mix(target.left, gain: 1, with: old.left, gain: 1, position: position, count: frames)
    fade.mix(target.right, gain: 1, with: old.right, gain: 1, position: position, count: frames)
  }

  /// Keeps the memory of the high-pass that is in force from now on. Called before `next` becomes the current setting.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endHighPassFade(to next: FilterSetting) {
    guard let current = state.pointee.current, !current.highPass.equals(next.highPass) else { return }
    state.pointee.highPass = state.pointee.nextHighPass
    state.pointee.nextHighPass = HighPassFilter.Memory()
  }
}
