import Realtime
import Synchronization

/// How blocks of any length are cut into periods of one: an engine's convolver has one. A host that keeps its length gets
/// that. Otherwise it is the greatest common divisor of the lengths so far, down to one frame, which costs more time. A block
/// that does not fit, and those that follow it until the worker is done, are played directly, as far as the bound of that
/// allows (`DirectForm`).
extension PluginProcessor {
  /// The period that a block is cut into; at least the block's length if nothing is prepared for it. Asks the worker for
  /// another where that is better.
  ///
  /// Thread: audio.
  @_noLocks @_noAllocation
  func period(for frames: Int, _ engine: Unmanaged<Engine>) -> Int {
    guard frames > 0 else { return 1 }
    let state = state
    state.pointee.framesOfLastLength =
      frames == state.pointee.lastLength ? state.pointee.framesOfLastLength &+ frames : 0
    state.pointee.lastLength = frames
    let wanted = state.pointee.wantedPeriod
    if wanted > 0, frames % wanted == 0, isPrepared(wanted, engine) {
      state.pointee.period = wanted
      state.pointee.wantedPeriod = 0
      state.pointee.commonLength = 0
    }
    let period = state.pointee.period
    guard period > 0, frames % period == 0, isPrepared(period, engine) else {
      let common = divisor(frames, period)
      state.pointee.commonLength = divisor(common, state.pointee.commonLength)
      ask(shortened(state.pointee.commonLength))
      return longestBlock
    }
    // A minute of one length: it will not change soon.
    if frames != period, frames <= longestBlock, state.pointee.wantedPeriod == 0,
      state.pointee.framesOfLastLength > minuteFrames
    {
      ask(frames)
    }
    return period
  }

  @_noLocks @_noAllocation
  private func isPrepared(_ period: Int, _ engine: Unmanaged<Engine>) -> Bool {
    engine._withUnsafeGuaranteedRef { $0.isPrepared(period: period) }
  }

  @_noLocks @_noAllocation
  private func ask(_ period: Int) {
    state.pointee.wantedPeriod = period
    state.pointee.wantsWork = true
    wantedPeriod.store(period, ordering: .relaxed)
  }

  /// The greatest common divisor; `a` if `b` is 0.
  @_noLocks @_noAllocation
  private func divisor(_ a: Int, _ b: Int) -> Int {
    var (a, b) = (a, b)
    while b > 0 { (a, b) = (b, a % b) }
    return a
  }

  /// The longest possible period that divides `length`; one frame if it would be very short.
  @_noLocks @_noAllocation
  private func shortened(_ length: Int) -> Int {
    var parts = (length &+ longestBlock &- 1) / longestBlock
    while length % parts != 0, parts < 4096 { parts &+= 1 }
    return length % parts == 0 ? length / parts : 1
  }
}
