// MARK: - Realtime thread

/// The feeds: where their outputs are, and how they come and go.
extension Engine {
  /// The buffer of one output of a feed; nil where nothing listens.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func output(_ feed: Int, _ n: Int, _ period: borrowing Period) -> UnsafeMutablePointer<Float>? {
    if feed == 0 { return n == 0 ? period.left : period.right }
    return period.feeds?[feeds.states[feed].firstOutput &+ n]
  }

  /// The buffers of a pair of outputs, in a period of at most `Partitioning.longestPeriod`. Work areas stand for an output that
  /// nothing listens to, and for the second one of the last pair of an odd number.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func outputs(_ feed: Int, pair: Int, _ period: borrowing Period) -> OutputPair {
    if feed == 0 { return OutputPair(period.left, period.right) }
    let first = 2 &* pair
    var (left, right) = (unheardLeft.floats, unheardRight.floats)
    if let heard = output(feed, first, period) { left = heard }
    if first &+ 1 < feeds.states[feed].outputs, let heard = output(feed, first &+ 1, period) { right = heard }
    return OutputPair(left, right)
  }

  /// Silences the outputs of a feed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func clear(_ feed: Int, _ period: borrowing Period) {
    var n = 0
    while n < feeds.states[feed].outputs {
      output(feed, n, period)?.clear(count: period.frames)
      n &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func beginFeed(_ ticket: Ticket, feed: Int, _ beginning: FeedState) {
    if refuses(ticket) { return }
    let outputs = beginning.outputs
    feeds.states[feed] = beginning
    feeds.clearHighPasses(feed)
    state.pointee.feedsEnd = max(state.pointee.feedsEnd, feed &+ 1)
    let first = microphones &+ 2 &+ beginning.firstOutput
    var n = 0
    while n < outputs {
      meters.reset(first &+ n)
      n &+= 1
    }
    state.pointee.meteredChannels = max(state.pointee.meteredChannels, first &+ outputs)
    reports.push(.feedBegan(ticket))
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func endFeed(_ ticket: Ticket, feed: Int) {
    if refuses(ticket) { return }
    let ended = feeds.states[feed]
    if let pending = ended.pending { reportDropped(pending) }
    if let next = ended.next, !next.isAdaptation { reportDropped(next) }
    if let current = ended.current { reports.push(.released(current.ticket)) }
    feeds.states[feed] = FeedState()
    while state.pointee.feedsEnd > 1, feeds.states[state.pointee.feedsEnd &- 1].outputs == 0 {
      state.pointee.feedsEnd &-= 1
    }
    reports.push(.feedEnded(ticket, feed: feed))
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func reportDropped(_ setting: FilterSetting) {
    reports.push(.superseded(setting.ticket))
    reports.push(.released(setting.ticket))
  }

  /// Refuses a request during a take.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: whether there is a take.
  @_noLocks @_noAllocation
  private func refuses(_ ticket: Ticket) -> Bool {
    switch state.pointee.take {
    case .armed(let take, _), .recording(let take, _):
      reports.push(.refused(ticket, take: take))
      return true
    case .idle: return false
    }
  }

  /// A change is refused during a take.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func acceptChange(_ feed: Int, _ setting: FilterSetting) {
    if refuses(setting.ticket) {
      reports.push(.released(setting.ticket))
    } else {
      waitToFade(feed, to: setting)
    }
  }

  /// A setting waits while another fades on its feed, and a newer one replaces it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func waitToFade(_ feed: Int, to setting: FilterSetting) {
    let state = feeds.states + feed
    // The feed has ended.
    guard state.pointee.outputs > 0 else { return reportDropped(setting) }
    if let older = state.pointee.pending { reportDropped(older) }
    state.pointee.pending = setting
    beginFade(feed)
  }

  /// Begins the pending change, unless a fade is in progress. A change of gain, or a turn, keeps the filters that follow the
  /// sound; between two such changes, newer filters are adopted.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func beginFade(_ feed: Int) {
    let state = feeds.states + feed
    guard state.pointee.next == nil, var setting = state.pointee.pending else { return }
    if let current = state.pointee.current {
      setting = setting.following(current)
      if setting.slot >= 0, !current.isAdaptation, beginRequestedAdaptation(feed) { return }
    }
    state.pointee.next = setting
    state.pointee.pending = nil
    state.pointee.fadePosition = 0
  }

  /// Begins the changes that waited for the end of a fade.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: whether any feed fades to what somebody asked for, or is about to.
  @_noLocks @_noAllocation
  func beginFades() -> Bool {
    var isFading = false
    var feed = 0
    while feed < state.pointee.feedsEnd {
      beginFade(feed)
      if feeds.states[feed].isChanging { isFading = true }
      feed &+= 1
    }
    return isFading
  }

  /// Advances the fades by a period; reports those that ended in it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func advanceFades(_ frames: Int) {
    var feed = 0
    while feed < state.pointee.feedsEnd {
      advanceFade(feed, frames)
      feed &+= 1
    }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func advanceFade(_ feed: Int, _ frames: Int) {
    let state = feeds.states + feed
    guard !state.pointee.isFormingTail, let next = state.pointee.next else { return }
    let remaining = fade(to: next).frames &- state.pointee.fadePosition
    state.pointee.fadePosition &+= frames
    guard frames >= remaining else { return }
    if !next.isAdaptation {
      if let current = state.pointee.current { reports.push(.released(current.ticket)) }
      let first = self.state.pointee.frame &- frames &+ max(remaining, 0)
      reports.push(.applied(next.ticket, frame: first))
      endHighPassFade(feed, to: next)
    }
    if let current = state.pointee.current { endAdaptation(feed, of: current, to: next) }
    state.pointee.current = next
    state.pointee.next = nil
  }
}
