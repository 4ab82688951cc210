import CRealtime
import Synchronization

// MARK: - Realtime thread

/// From the microphones to the live history.
extension Engine {
  /// Copies this period's samples of the microphones, so that the feeds play and a take records the same: a client that is
  /// late writes the buffer of its port while the server lets others run already. Of a period longer than
  /// `Partitioning.longestPeriod`, nothing is copied.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: one buffer per microphone; nil is silence.
  @_noLocks @_noAllocation
  func capture(_ period: borrowing Period) -> UnsafePointer<UnsafePointer<Float>?> {
    guard period.frames <= longestPeriod else { return period.inputs }
    // Beside each other, on a boundary of a cache line.
    let stride = (period.frames &+ 15) & ~15
    var microphone = 0
    while microphone < microphones {
      capturedInputs[microphone] = nil
      if let source = period.inputs[microphone] {
        let copy = captured.floats + microphone &* stride
        copy.copy(from: source, count: period.frames)
        capturedInputs[microphone] = UnsafePointer(copy)
      }
      microphone &+= 1
    }
    return UnsafePointer(capturedInputs)
  }

  /// Chooses the history that receives this period: the convolver's own once that is up to date.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func chooseHistory(_ frames: Int) {
    let history = state.pointee.live
    let heard = heardFeeds()
    if let convolver = state.pointee.convolver,
      convolver._withUnsafeGuaranteedRef({ $0.fits(frames: frames) })
    {
      let isUpToDate = convolver._withUnsafeGuaranteedRef { $0.catchUp(with: history, heard) }
      if isUpToDate { return makeLive(convolver._withUnsafeGuaranteedRef { $0.ownHistory() }) }
    }
    let storage = history._withUnsafeGuaranteedRef { $0.storage }
    let spare = unmanagedSpareHistory
    let kept = taps
    guard storage.pointee.capacity < kept &+ min(frames, longestPeriod),
      spare.toOpaque() != history.toOpaque()
    else { return }
    spare._withUnsafeGuaranteedRef {
      let end = storage.pointee.written
      $0.append(kept, from: end &- kept, of: UnsafePointer(storage), end: end)
    }
    makeLive(spare)
  }

  /// Lets `history`, which has all frames of the live one that matter, receive the microphones from now on.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func makeLive(_ history: Unmanaged<InputHistory>) {
    if history.toOpaque() == state.pointee.live.toOpaque() { return }
    history._withUnsafeGuaranteedRef { $0.publish() }
    state.pointee.live = history
    live.store(UInt(bitPattern: history.toOpaque()), ordering: .releasing)
    if let replaced = state.pointee.replacedConvolver { reports.push(.convolverReplaced(serial: replaced)) }
    state.pointee.replacedConvolver = nil
  }

  /// Appends and measures one period of each microphone. A port without a buffer is silent. The guard mutes invalid
  /// samples; a signal that stops dead fades out.
  ///
  /// Of a period longer than `Partitioning.longestPeriod`, which PipeWire can be configured to have, only the end is stored
  /// and measured: no convolver is prepared for it. `chooseHistory` has chosen a history with room for the others.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the number of invalid samples.
  @_noLocks @_noAllocation
  func receive(_ period: borrowing Period) -> Int {
    let history = state.pointee.live
    let storage = history._withUnsafeGuaranteedRef { $0.storage }
    let capacity = storage.pointee.capacity
    let frames = min(period.frames, longestPeriod)
    let at = storage.pointee.written & (capacity &- 1)
    let end = storage.pointee.written &+ frames
    history._withUnsafeGuaranteedRef { $0.claim(until: end) }
    let head = min(frames, capacity &- at)
    var rejected = 0
    var microphone = 0
    while microphone < microphones {
      let ring = storage.pointee.frames + microphone &* storage.pointee.stride
      var measure = pinna_measure(energy: 0, peak: 0, rejected: 0, clipped: 0)
      if let whole = period.inputs[microphone] {
        let input = whole + (period.frames &- frames)
        kernels.copyAndMeasure(input, ring + at, head, &measure)
        if head < frames { kernels.copyAndMeasure(input + head, ring, frames &- head, &measure) }
        microphoneGuard.apply(
          microphone, frames: frames, rejected: measure.rejected, ring: ring, start: at, mask: capacity &- 1)
        rejected &+= measure.rejected
      } else {
        (ring + at).clear(count: head)
        ring.clear(count: frames &- head)
      }
      if microphoneGuard.isMuted(microphone) {
        dropouts.reset(microphone)
      } else if !state.pointee.takesInputsAsTheyAre {
        dropouts.apply(
          microphone, frames: frames, isZero: measure.peak == 0, ring: ring, start: at, mask: capacity &- 1)
      }
      meters.observe(microphone, measure, frames: frames)
      microphone &+= 1
    }
    storage.pointee.written = end
    history._withUnsafeGuaranteedRef { $0.publish() }
    return rejected
  }
}
