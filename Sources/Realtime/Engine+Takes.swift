import CRealtime
import Synchronization

// MARK: - Realtime thread

/// Takes: what is written into them, and the frames of the take at which filters are substituted.
extension Engine {
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func beginTake(_ ticket: Ticket, _ ring: Unmanaged<TakeRing>, followsTransport: Bool) {
    switch state.pointee.take {
    case .armed(let take, _), .recording(let take, _): reports.push(.refused(ticket, take: take))
    case .idle:
      state.pointee.take = .armed(ticket, ring)
      state.pointee.takeFollowsTransport = followsTransport
      state.pointee.isTakeArmed = false
    }
  }

  /// Whether the take that was accepted begins with this period. It waits until all changes have been applied. One that
  /// follows the transport then waits for the transport alone: not even a substitution delays its first frame.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func isTakeDue(_ ticket: Ticket, _ timing: Timing, isFading: Bool) -> Bool {
    if isFading, !state.pointee.isTakeArmed { return false }
    guard state.pointee.takeFollowsTransport else { return true }
    if timing.transport.isRolling { return !timing.isRepeat }
    if !state.pointee.isTakeArmed {
      state.pointee.isTakeArmed = true
      reports.push(.takeArmed(ticket))
    }
    return false
  }

  /// Ends a take that follows the transport before the first period in which it does not roll.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endTakeWithTransport(_ timing: Timing) {
    guard state.pointee.takeFollowsTransport, !timing.transport.isRolling,
      case .recording(let take, let ring) = state.pointee.take
    else { return }
    finishTake(ring, withTransport: true)
    reports.push(.transportStopped(take: take, frame: state.pointee.frame))
  }

  /// The frames that the transport rolled in the periods that Pinna missed just before this one; nil if its position does
  /// not say so, because it was relocated meanwhile.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func missedTransport(_ timing: Timing) -> Int? {
    let missed = timing.transport.frame &- state.pointee.nextTransportFrame
    return missed >= 0 && missed <= timing.skippedFrames ? missed : nil
  }

  /// Notes where the transport stands after this period.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func followTransport(_ period: borrowing Period) {
    guard !period.timing.isRepeat else { return }
    let transport = period.timing.transport
    state.pointee.nextTransportFrame = transport.frame &+ (transport.isRolling ? period.frames : 0)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func finishTake(_ ring: Unmanaged<TakeRing>, withTransport: Bool = false) {
    ring._withUnsafeGuaranteedRef { $0.finish(withTransport: withTransport) }
    state.pointee.take = .idle
    counters.recording.store(false, ordering: .relaxed)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endTake(_ ticket: Ticket) {
    switch state.pointee.take {
    case .idle:
      reports.push(.noTake(ticket))
    case .armed(let take, let ring), .recording(let take, let ring):
      finishTake(ring)
      reports.push(.takeEnded(ticket, take: take, frame: state.pointee.frame))
    }
  }

  /// Writes time without callbacks into a running take, or takes it back. Without a take, empties the pre-roll, which must
  /// be contiguous.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter frames: length of this period.
  @_noLocks @_noAllocation
  func recordLostTime(_ timing: Timing, before frames: Int) {
    if case .recording(_, let ring) = state.pointee.take {
      ring._withUnsafeGuaranteedRef {
        if timing.isRepeat {
          $0.takeBackStall(frames: timing.repeatedFrames)
        } else {
          $0.confirmStalls(period: frames)
        }
      }
    }
    guard timing.skippedFrames > 0 || timing.pausedMicroseconds > 0 || timing.isUncounted else { return }
    guard case .recording(_, let ring) = state.pointee.take else {
      if timing.skippedFrames > 0 || timing.pausedMicroseconds > 0 { resetPreRolls() }
      return
    }
    if timing.pausedMicroseconds > 0 {
      ring._withUnsafeGuaranteedRef { $0.pause(microseconds: timing.pausedMicroseconds) }
    }
    if timing.isUncounted { ring._withUnsafeGuaranteedRef { $0.skipUncounted(at: timing.microseconds) } }
    // A transport that has stopped meanwhile tells by its position how far it rolled.
    let endsHere = state.pointee.takeFollowsTransport && !timing.transport.isRolling
    let skipped = endsHere ? missedTransport(timing) ?? timing.skippedFrames : timing.skippedFrames
    if skipped > 0 { ring._withUnsafeGuaranteedRef { $0.skip(skipped, until: timing.microseconds) } }
  }

  /// Reports the substitutions whose fades begin in this period, before the period is recorded.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func reportSubstitutions() {
    var feed = 0
    while feed < state.pointee.feedsEnd {
      reportSubstitution(feed)
      feed &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func reportSubstitution(_ feed: Int) {
    let ofFeed = feeds.states + feed
    guard let next = ofFeed.pointee.next, next.isSubstitute, !next.isAdaptation,
      !ofFeed.pointee.isFormingTail, ofFeed.pointee.fadePosition == 0
    else { return }
    var takeFrame: Int?
    if case .recording(_, let ring) = state.pointee.take {
      takeFrame = ring._withUnsafeGuaranteedRef { $0.fixNextFrame() }
    }
    reports.push(.substituted(next.ticket, frame: state.pointee.frame, takeFrame: takeFrame))
  }

  /// Keeps in a take's ring what it takes to compute its feeds again. Before this period is received.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func keepMemory(in ring: Unmanaged<TakeRing>, _ frames: Int) {
    let history = state.pointee.live._withUnsafeGuaranteedRef { UnsafePointer($0.storage) }
    let periods = state.pointee.convolver?._withUnsafeGuaranteedRef { $0.historyPeriods } ?? 0
    ring._withUnsafeGuaranteedRef { $0.keep(history, period: frames, periods: periods) }
    var microphone = 0
    while microphone < microphones {
      let (n, cleanFrames) = (microphone, microphoneGuard.cleanFrames(of: microphone))
      let dropout = dropouts.state(microphone)
      ring._withUnsafeGuaranteedRef { $0.keep(cleanFrames: cleanFrames, dropout, ofMicrophone: n) }
      microphone &+= 1
    }
    var feed = 0
    while feed < state.pointee.feedsEnd {
      let ofFeed = feeds.states[feed]
      var n = 0
      while n < ofFeed.outputs {
        let memory = feeds.highPassMemory(feed, pair: n &>> 1)[0]
        let (output, place) = (n, feed == 0 ? nil : ofFeed.firstOutput &+ n)
        let values =
          n & 1 == 0 ? SIMD2(memory.first.x, memory.second.x) : SIMD2(memory.first.y, memory.second.y)
        ring._withUnsafeGuaranteedRef { $0.keep(highPass: values, place: place, ofMain: output) }
        n &+= 1
      }
      feed &+= 1
    }
  }

  /// Appends the period to the running take, else to the pre-rolls.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func record(_ period: borrowing Period) {
    if case .recording(_, let ring) = state.pointee.take {
      let (left, right) = (UnsafePointer(period.left), UnsafePointer(period.right))
      let (feeds, inputs, frames) = (period.feeds, period.inputs, period.frames)
      ring._withUnsafeGuaranteedRef {
        $0.write(left: left, right: right, feeds: feeds, inputs: inputs, frames: frames)
      }
    } else {
      fillPreRolls(period)
    }
  }
}
