import CRealtime

// How a convolver is brought up to date with periods that were received before it came into use: their spectra, and
// the tails and partial sums of pairs, which later periods need.

extension Convolver {
  /// Sets the stream's clock, for a convolver that is there from the first period on.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func begin(at frame: Int) {
    progress.pointee.position = frame
    unmanagedHistory._withUnsafeGuaranteedRef { $0.begin(at: frame) }
  }

  /// Before a period is received: computes one earlier period that is missing. With periods on another grid, or too far
  /// behind, it starts over, and is up to date some periods later.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter feeds: those that may be heard.
  /// - Returns: whether no earlier period is missing.
  @_noLocks @_noAllocation
  func catchUp(
    with live: Unmanaged<InputHistory>, _ feeds: HeardFeeds
  ) -> Bool {
    let source = live._withUnsafeGuaranteedRef { $0.storage }
    let end = source.pointee.written
    let missing = end &- progress.pointee.position
    if missing == 0 { return true }
    let period = kernelState.pointee.period
    let isTooFar = missing > historyPeriods &* period
    if isTooFar || missing % period != 0 { restart(before: end, feeds) }
    computeMissingPeriod(UnsafePointer(source), end, feeds)
    return progress.pointee.position == end
  }

  /// After a period has been received: computes the oldest missing period. Of the newest one it computes only the
  /// spectra; `Engine.convolve` plays it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter feeds: those that may be heard.
  /// - Returns: whether it was the newest one.
  @_noLocks @_noAllocation
  func advance(
    _ live: Unmanaged<InputHistory>, _ feeds: HeardFeeds
  ) -> Bool {
    let source = live._withUnsafeGuaranteedRef { $0.storage }
    let end = source.pointee.written
    if progress.pointee.position &+ kernelState.pointee.period == end {
      analyseNextPeriod(UnsafePointer(source), end)
      return true
    }
    computeMissingPeriod(UnsafePointer(source), end, feeds)
    return false
  }

  /// Computes all that `live` has received, while the callback goes on appending to it. The callback then finds little
  /// or nothing left to do.
  ///
  /// Thread: control side, before the callback knows this convolver.
  func catchUp(with live: InputHistory, _ feeds: HeardFeeds) {
    let frames = live.publishedFrames
    guard frames > 0 else { return }
    restart(before: frames, feeds)
    let period = kernelState.pointee.period
    flushingDenormalsToZero {
      // Each round computes what arrived during the one before. The callback computes the rest.
      for _ in 0..<3 where live.publishedFrames - progress.pointee.position >= period {
        let copy = live.snapshot()
        let end = copy.storage.pointee.written
        while progress.pointee.position + period <= end {
          computeMissingPeriod(copy.storage, end, feeds, playingLast: historyPeriods)
        }
      }
    }
  }

  /// Begins anew, so early that all spectra are complete at `end`.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func restart(before end: Int, _ feeds: HeardFeeds) {
    let period = kernelState.pointee.period
    progress.pointee.position = end &- historyPeriods &* period
    progress.pointee.first = end &- refillPeriods &* period
    progress.pointee.analysed = historyPeriods
    stopVoices(feeds)
  }

  /// Computes the spectra of the next period of `source`, which has `end` frames so far, and plays it unheard if at most
  /// `count` others are missing then. 15 played periods complete a tail, and seven suffice for pairs.
  ///
  /// The callback plays two periods while one arrives: with 8 missing ones that is enough. The control side plays all,
  /// which brings the filters into the last-level cache.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func computeMissingPeriod(
    _ source: UnsafePointer<pinna_history>, _ end: Int, _ feeds: HeardFeeds, playingLast count: Int = 8
  ) {
    analyseNextPeriod(source, end)
    let position = progress.pointee.position
    // Periods before the first only fill the window: the kernels' clock stands still.
    if position > progress.pointee.first, end &- position <= count &* kernelState.pointee.period {
      playUnheard(feeds)
    } else {
      stopVoices(feeds)
    }
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

  /// Computes what later periods need of the newest one.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func playUnheard(_ feeds: HeardFeeds) {
    var feed = 0
    while feed < feeds.end {
      if feeds.states[feed].outputs > 0 { playUnheard(feed: feed, feeds.states + feed) }
      feed &+= 1
    }
  }

  /// Computes what later periods need of the newest one for a feed: its share of the tails, and the sums that begin pairs.
  /// Voices of other sets are stopped, because those may have been freed.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  func playUnheard(feed: Int, _ state: UnsafePointer<FeedState>) {
    let pairs = state.pointee.pairs
    let (current, next) = (state.pointee.current?.filters, state.pointee.next?.filters)
    guard let first = current ?? next else { return stopVoices(feed: feed, pairs: pairs) }
    let isOne = current == nil || current?.toOpaque() == next?.toOpaque()
    var pair = 0
    while pair < pairs {
      if !synthesise(feed: feed, pair: pair, first, to: nil, isOne ? nil : next, to: nil),
        !synthesise(feed: feed, pair: pair, first, to: nil, nil, to: nil)
      {
        return stopVoices(feed: feed, pairs: pairs)
      }
      pair &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func stopVoices(_ feeds: HeardFeeds) {
    var feed = 0
    while feed < feeds.end {
      stopVoices(feed: feed, pairs: feeds.states[feed].pairs)
      feed &+= 1
    }
  }
}

/// The feeds that a convolver plays while it is brought up to date.
struct HeardFeeds: BitwiseCopyable {
  let states: UnsafePointer<FeedState>
  /// One past the last feed that exists.
  let end: Int

  /// Thread: any.
  @_noLocks @_noAllocation
  init(_ states: UnsafePointer<FeedState>, end: Int) {
    self.states = states
    self.end = end
  }
}
