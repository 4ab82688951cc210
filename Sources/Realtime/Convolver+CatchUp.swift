import CRealtime

// From the input history to spectra: how a convolver gets them for a period that was received before it came into use.

extension Convolver {
  /// Sets the stream's clock, for a convolver that is there from the first period on.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func begin(at frame: Int) {
    progress.pointee.position = frame
    unmanagedHistory._withUnsafeGuaranteedRef { $0.begin(at: frame) }
  }

  /// Stops every voice whose filters belong to neither setting. The control side may have prepared it for a setting
  /// that is over by now, and the spectra of that one may have been freed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func keepVoices(of current: Unmanaged<FilterSet>?, _ next: Unmanaged<FilterSet>?) {
    let currentSet = current?._withUnsafeGuaranteedRef { $0.serial } ?? 0
    let nextSet = next?._withUnsafeGuaranteedRef { $0.serial } ?? 0
    var n = 0
    while n < 2 {
      let set = voices[n].filterSerial
      if set != currentSet, set != nextSet { voices[n].filterSerial = 0 }
      n &+= 1
    }
    if voices[0].filterSerial == 0 { swapVoices() }
  }

  /// Before a period is received: computes the spectra of one earlier period that is missing. With periods on another
  /// grid, or too far behind, it starts over, and is up to date some periods later.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter current, next: the filter sets that may be heard.
  /// - Returns: whether no earlier period is missing.
  @_noLocks @_noAllocation
  func catchUp(
    with live: Unmanaged<InputHistory>, _ current: Unmanaged<FilterSet>?, _ next: Unmanaged<FilterSet>?
  ) -> Bool {
    let source = live._withUnsafeGuaranteedRef { $0.storage }
    let end = source.pointee.written
    let missing = end &- progress.pointee.position
    if missing == 0 { return true }
    keepVoices(of: current, next)
    let period = kernelState.pointee.period
    let isTooFar = missing > historyPeriods &* period
    if isTooFar || missing % period != 0 { restart(before: end) }
    analyseNextPeriod(UnsafePointer(source), end)
    synthesiseUnheard()
    return progress.pointee.position == end
  }

  /// After a period has been received: computes the spectra of the oldest one that is missing.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: whether it was the newest one.
  @_noLocks @_noAllocation
  func advance(_ live: Unmanaged<InputHistory>) -> Bool {
    let source = live._withUnsafeGuaranteedRef { $0.storage }
    let end = source.pointee.written
    analyseNextPeriod(UnsafePointer(source), end)
    if progress.pointee.position == end { return true }
    synthesiseUnheard()
    return false
  }

  /// Computes the spectra of all that `live` has received, while the callback goes on appending to it, and plays up
  /// to two filter sets unheard. The callback then finds little or nothing left to do.
  ///
  /// Thread: control side, before the callback knows this convolver.
  func catchUp(with live: InputHistory, _ sets: [FilterSet]) {
    let period = kernelState.pointee.period
    let frames = live.publishedFrames
    guard frames > 0 else { return }
    restart(before: frames)
    for (n, set) in sets.prefix(2).enumerated() {
      if let spectra = set.spectra(generation: generation) { startVoice(n, set.serial, spectra, nil) }
    }
    // What arrives during the first round is little, and the callback can compute the rest.
    for _ in 0..<3 where live.publishedFrames - progress.pointee.position >= period {
      let copy = live.snapshot()
      let end = copy.storage.pointee.written
      while progress.pointee.position + period <= end {
        analyseNextPeriod(UnsafePointer(copy.storage), end)
        synthesiseUnheard()
      }
    }
  }

  /// Begins anew, so early that all spectra are complete at `end`.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func restart(before end: Int) {
    let period = kernelState.pointee.period
    progress.pointee.position = end &- historyPeriods &* period
    progress.pointee.first = end &- refillPeriods &* period
    progress.pointee.analysed = historyPeriods
    stopVoices()
  }

  /// Computes the spectra of the next period of `source`, which has `end` frames so far.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func analyseNextPeriod(_ source: UnsafePointer<pinna_history>, _ end: Int) {
    let period = kernelState.pointee.period
    let frame = progress.pointee.position
    let own = unmanagedHistory._withUnsafeGuaranteedRef { UnsafePointer($0.storage) }
    if source != own {
      unmanagedHistory._withUnsafeGuaranteedRef { $0.append(period, from: frame, of: source, end: end) }
    }
    progress.pointee.position = frame &+ period
    progress.pointee.analysed &+= 1
    let age = own.pointee.written &- progress.pointee.position
    kernels.analyse(kernelState, own, age: frame >= progress.pointee.first ? age : -1 &- age)
  }

  /// Computes the outputs of a period that is not heard, because the next ones need the tails' share and the partial
  /// sums of pairs.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func synthesiseUnheard() {
    var count = 0
    while count < 2, voices[count].filterSerial != 0 {
      voices[count].left = unheard.left
      voices[count].right = unheard.right
      count &+= 1
    }
    if count > 0 { kernels.synthesise(kernelState, voices, count: count) }
  }
}
