// MARK: - Realtime thread

/// The pre-rolls: one for each feed that has one. That of `main` has the microphones, too.
extension Engine {
  /// Appends the period to the pre-rolls.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func fillPreRolls(_ period: borrowing Period) {
    var feed = 0
    while feed < state.pointee.feedsEnd {
      fillPreRoll(feed, period)
      feed &+= 1
    }
  }

  /// A change forgets what the feed played before, so that its pre-roll holds a single setting.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func fillPreRoll(_ feed: Int, _ period: borrowing Period) {
    guard let preRoll = feeds.states[feed].preRoll, preRoll._withUnsafeGuaranteedRef({ $0.isFilling() })
    else { return }
    let (outputs, microphones) = preRoll._withUnsafeGuaranteedRef { ($0.outputs, $0.microphones) }
    let frames = period.frames
    var n = 0
    while n < outputs {
      let samples = UnsafePointer(output(feed, n, period))
      preRoll._withUnsafeGuaranteedRef { $0.write(samples, n, frames: frames) }
      n &+= 1
    }
    n = 0
    while n < microphones {
      let samples = period.inputs[n]
      preRoll._withUnsafeGuaranteedRef { $0.write(samples, outputs &+ n, frames: frames) }
      n &+= 1
    }
    preRoll._withUnsafeGuaranteedRef { $0.advance(frames: frames) }
    guard let next = feeds.states[feed].next, !next.isSubstitute, !next.isAdaptation,
      !feeds.states[feed].isFormingTail
    else { return }
    preRoll._withUnsafeGuaranteedRef { $0.resetOutputs() }
  }

  /// Empties the pre-rolls, which must be contiguous.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func resetPreRolls() {
    var feed = 0
    while feed < state.pointee.feedsEnd {
      feeds.states[feed].preRoll?._withUnsafeGuaranteedRef { $0.reset() }
      feed &+= 1
    }
  }

  /// Holds the pre-rolls of what a take records, as far back as all of them reach, and empties the others.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the number of frames. If 0, none is held: one was empty, or the previous take still reads it.
  @_noLocks @_noAllocation
  func holdPreRolls(for ring: Unmanaged<TakeRing>) -> Int {
    var frames = Int.max
    var feed = 0
    while feed < state.pointee.feedsEnd {
      frames = min(frames, preRollFrames(feed, ring))
      feed &+= 1
    }
    if frames == .max { frames = 0 }
    feed = 0
    while feed < state.pointee.feedsEnd {
      if let preRoll = feeds.states[feed].preRoll {
        let isRecorded = preRollFrames(feed, ring) != .max
        if frames > 0, isRecorded {
          preRoll._withUnsafeGuaranteedRef { $0.hold() }
        } else {
          preRoll._withUnsafeGuaranteedRef { $0.reset() }
        }
      }
      feed &+= 1
    }
    return frames
  }

  /// The pre-roll of one feed for a take.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: `Int.max` if the take records nothing of it.
  @_noLocks @_noAllocation
  private func preRollFrames(_ feed: Int, _ ring: Unmanaged<TakeRing>) -> Int {
    let ofFeed = feeds.states[feed]
    guard ofFeed.outputs > 0 else { return .max }
    let (outputs, microphones) = ring._withUnsafeGuaranteedRef { ring in
      feed == 0 ? (ring.outputs > 0, ring.microphones > 0) : (ring.records(ofFeed.firstOutput), false)
    }
    guard outputs || microphones else { return .max }
    guard let preRoll = ofFeed.preRoll else { return 0 }
    return preRoll._withUnsafeGuaranteedRef { $0.frames(outputs: outputs, microphones: microphones) }
  }
}
