import Threads

/// The control side of feeds other than `main`.
extension Engine {
  /// How many feeds there may be besides `main`.
  public static let mostFeeds = FeedTable.capacity - 1
  /// How many outputs all feeds but `main` may have together.
  public static let mostFeedOutputs = FeedTable.mostOutputs

  /// Requests another feed: silent until its first change. A report with the ticket tells whether it began. Its changes
  /// may be requested at once.
  ///
  /// Thread: control side.
  /// - Parameters:
  ///   - outputs: 1 to 25.
  ///   - firstOutput: index of its first output in `Period.feeds`, from the period on in which it begins. No other feed
  ///     uses the places from there on, and the callback gives all of them.
  ///   - preRoll: a pre-roll buffer for its outputs, without microphones; nil for none.
  /// - Returns: nil if there are as many feeds as there can be.
  public func beginFeed(
    outputs: Int, firstOutput: Int, preRoll: PreRoll? = nil
  ) throws(QueueRefusal) -> (feed: Int, ticket: Ticket)? {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      guard let feed = addFeed(outputs, firstOutput, preRoll, &side) else { return nil }
      let ticket = Ticket.next()
      side.feeds[feed]?.beginning = ticket
      let message = ControlMessage.beginFeed(
        ticket, feed: feed, outputs: outputs, firstOutput: firstOutput,
        preRoll: preRoll.map { .passUnretained($0) }, lane: stream?.addLane(feed: feed, outputs: outputs))
      guard messages.push(message) else {
        remove(feed, &side)
        throw .queueFull
      }
      return (feed, ticket)
    }
  }

  /// Requests the end of a feed. It ends at once: to spare its listeners a click, fade it out before.
  ///
  /// Thread: control side.
  /// - Returns: nil if there is no such feed, or its end was requested before.
  public func endFeed(_ feed: Int) throws(QueueRefusal) -> Ticket? {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      guard feed > 0, let record = side.feeds[feed], !record.isEnding else { return nil }
      let ticket = Ticket.next()
      guard messages.push(.endFeed(ticket, feed: feed), fromReserve: true) else { throw .queueFull }
      side.feeds[feed]?.isEnding = true
      side.feedsEnding[ticket.number] = feed
      return ticket
    }
  }

  /// Starts a feed with `filters` in force, without a fade. Call it only before the first period.
  ///
  /// Thread: control side.
  /// - Parameter firstOutput, preRoll: as in `beginFeed`.
  /// - Parameter gain, highPass, lineage: as in `change`.
  /// - Returns: the feed; nil if there are as many as there can be.
  public func startFeed(
    with filters: FilterSet, firstOutput: Int, gain: Float = 1, highPass: Double? = nil, lineage: Int = 0,
    preRoll: PreRoll? = nil
  ) -> Int? {
    let added = control.withLock { addFeed(filters.outputs, firstOutput, preRoll, &$0) }
    guard let feed = added else { return nil }
    feeds.states[feed] = FeedState(
      outputs: filters.outputs, firstOutput: firstOutput, preRoll: preRoll.map { .passUnretained($0) },
      lane: stream?.addLane(feed: feed, outputs: filters.outputs))
    state.pointee.feedsEnd = max(state.pointee.feedsEnd, feed + 1)
    state.pointee.meteredChannels = max(
      state.pointee.meteredChannels, microphones + 2 + firstOutput + filters.outputs)
    start(feed: feed, with: filters, gain: gain, highPass: highPass, lineage: lineage)
    return feed
  }

  /// The pre-roll buffer that a feed was begun with.
  ///
  /// Thread: control side.
  public func preRoll(ofFeed feed: Int) -> PreRoll? {
    feed == 0 ? preRoll : control.withLock { $0.feeds[feed]?.preRoll }
  }

  /// Thread: control side.
  private func addFeed(
    _ outputs: Int, _ firstOutput: Int, _ preRoll: PreRoll?, _ side: inout ControlSide
  ) -> Int? {
    precondition((1...25).contains(outputs))
    precondition(preRoll.map { $0.outputs == outputs && $0.microphones == 0 } ?? true)
    let places = firstOutput..<firstOutput + outputs
    guard places.upperBound <= FeedTable.mostOutputs,
      let feed = (1..<FeedTable.capacity).first(where: { side.feeds[$0] == nil })
    else { return nil }
    // The callback forgets those that are ending before it hears of this one.
    let others = side.feeds.filter { $0.key > 0 && !$0.value.isEnding }.values
    precondition(others.allSatisfy { !$0.places.overlaps(places) }, "two feeds have the same outputs")
    side.feeds[feed] = ControlSide.Feed(outputs: outputs, firstOutput: firstOutput, preRoll: preRoll)
    for convolver in side.convolversInUse.values { convolver.makeVoices(feed: feed, outputs: outputs) }
    return feed
  }

  /// The callback no longer knows this feed.
  ///
  /// Thread: control side.
  func remove(_ feed: Int, _ side: inout ControlSide) {
    side.removeFeed(feed)
    stream?.removeLane(feed: feed)
  }
}

extension ControlSide.Feed {
  /// The indices of its outputs in `Period.feeds`.
  fileprivate var places: Range<Int> { firstOutput..<firstOutput + outputs }
}

extension ControlSide {
  /// The callback has begun the feed of this request.
  ///
  /// Thread: control side.
  mutating func feedHasBegun(_ ticket: Ticket) {
    for (feed, record) in feeds where record.beginning == ticket { feeds[feed]?.beginning = nil }
  }

  /// The callback has refused to begin or to end the feed of this request, if it is such a request.
  ///
  /// Thread: control side.
  /// - Returns: the feed that does not begin; nil if it is another request.
  mutating func feedIsRefused(_ ticket: Ticket) -> Int? {
    if let feed = feedsEnding.removeValue(forKey: ticket.number) { feeds[feed]?.isEnding = false }
    return feeds.first { $0.value.beginning == ticket }?.key
  }

  /// The callback no longer knows this feed.
  ///
  /// Thread: control side.
  mutating func removeFeed(_ feed: Int) {
    feeds[feed] = nil
    feedsEnding = feedsEnding.filter { $0.value != feed }
    for convolver in convolversInUse.values { convolver.removeVoices(feed: feed) }
  }

  /// The callback no longer reads the filter set of this request.
  ///
  /// Thread: control side.
  mutating func forget(_ ticket: Ticket) {
    filtersInUse[ticket.number] = nil
    feedOfTicket[ticket.number] = nil
  }

  /// Whether there is such a feed, and these filters can be heard on it.
  ///
  /// Thread: control side.
  func takes(_ filters: FilterSet, on feed: Int) -> Bool {
    guard let outputs = feeds[feed]?.outputs else { return false }
    return filters.outputs == outputs || (filters.outputs == 1 && outputs == 2)
  }

  /// For each feed the setting in force and the one requested after it, as the callback may play them.
  ///
  /// Thread: control side.
  func heardFeeds() -> [FeedState] {
    var states = [FeedState](repeating: FeedState(), count: (feeds.keys.max() ?? 0) + 1)
    for (feed, record) in feeds {
      states[feed] = FeedState(outputs: record.outputs, firstOutput: record.firstOutput)
      let first = record.inForce?.number ?? 0
      let tickets = feedOfTicket.filter { $0.value == feed && $0.key >= first }.keys.sorted()
      var heard: [FilterSetting] = []
      for number in tickets {
        guard let filters = filtersInUse[number],
          !heard.contains(where: { $0.filters.toOpaque() == Unmanaged.passUnretained(filters).toOpaque() })
        else { continue }
        heard.append(
          FilterSetting(
            ticket: Ticket(number: number), filters: .passUnretained(filters), gain: 0, highPass: .off))
      }
      states[feed].current = heard.first
      states[feed].next = heard.dropFirst().first
    }
    if let residentInForce {
      states[0].current = FilterSetting(
        ticket: Ticket(number: 0), filters: .passUnretained(residents[residentInForce]), gain: 0,
        highPass: .off)
    }
    return states
  }
}
