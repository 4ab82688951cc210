import CRealtime
import Synchronization
import Threads

/// Why a request never reached the callback.
public enum QueueRefusal: Error, Hashable, CustomStringConvertible {
  case queueFull
  /// The feed has ended, or never began.
  case noFeed

  public var description: String {
    switch self {
    case .queueFull: "too many changes are waiting; try again in a moment"
    case .noFeed: "the feed has ended"
    }
  }

}

/// State of the control side, behind `Engine.control`.
struct ControlSide {
  // Objects that the callback may still read, by ticket. Each is released after the callback's report.
  var filtersInUse: [UInt64: FilterSet] = [:]
  var ringsInUse: [UInt64: TakeRing] = [:]
  var playbacksInUse: [UInt64: PlaybackRing] = [:]
  /// Convolvers that the callback may still use, by serial. Each is released after the callback's report.
  var convolversInUse: [Int: Convolver] = [:]
  /// The feed of each filter set in use.
  var feedOfTicket: [UInt64: Int] = [:]
  /// Filter sets that stay prepared until the engine ends, and the one that `main` plays, as far as reports have been drained.
  var residents: [FilterSet] = []
  var residentInForce: Int?
  /// The feeds that exist, or that the callback has been asked to begin or to end.
  var feeds: [Int: Feed] = [0: Feed(outputs: 2, firstOutput: 0)]

  /// The feeds whose end has been requested, by ticket.
  var feedsEnding: [UInt64: Int] = [:]

  struct Feed {
    let outputs: Int
    let firstOutput: Int
    /// Kept for the callback, which counts no references.
    var preRoll: PreRoll?
    /// The request that it begins with, until the callback reports that it has begun.
    var beginning: Ticket?
    /// The setting in force, as far as reports have been drained.
    var inForce: Ticket?
    /// Whether its end has been requested.
    var isEnding = false
  }
  /// The convolver that was prepared last.
  var newestConvolver: Convolver?
  /// The convolver that was prepared before it, while the callback may still use that one.
  var previousConvolver: Convolver?
  var convolversMade = 0
  var pendingReports: [Report] = []
}

/// The control side: any thread but the callback's. Every function takes the lock of `control`.
extension Engine {
  /// Prepares for periods of `frames`: partitions all filter sets in use, and builds a convolver. The callback adopts
  /// it with the first period of that length. Periods longer than `Partitioning.longestPeriod` are not prepared; they
  /// stay silent and are counted.
  ///
  /// Thread: control side.
  public func prepare(period frames: Int) {
    guard (1...Partitioning.longestPeriod).contains(frames) else { return }
    control.withLock { side in
      collect(&side)
      let layout = layout(period: frames)
      if side.newestConvolver?.layout == layout { return }
      // Withdraw a convolver that the callback never adopted. It may be freed at once.
      if prepared.exchange(0, ordering: .acquiring) != 0 {
        if let newest = side.newestConvolver {
          side.convolversInUse[newest.serial] = nil
          stream?.forget(convolver: newest.serial)
        }
        if side.previousConvolver?.layout == layout {
          // The server returned to the period that is still in use.
          side.newestConvolver = side.previousConvolver
          side.previousConvolver = nil
          return
        }
      } else {
        // The callback adopted the newest convolver, so the previous one is no longer in use.
        side.previousConvolver = side.newestConvolver
      }
      let generation = side.previousConvolver.map { 1 - $0.generation } ?? 0
      side.convolversMade += 1
      let convolver = Convolver(
        layout, kernels: kernelTables.first { $0.lanes == layout.lanes }!, generation: generation,
        serial: side.convolversMade)
      side.newestConvolver = convolver
      side.convolversInUse[convolver.serial] = convolver
      for (feed, record) in side.feeds where feed > 0 {
        convolver.makeVoices(feed: feed, outputs: record.outputs)
      }
      for filters in Array(side.filtersInUse.values) + side.residents {
        filters.prepare(layout, generation: generation)
      }
      stream?.prepare(convolver)
      // Acquiring: the history's ring is visible. It lives as long as its owner is in use.
      if let address = UnsafeRawPointer(bitPattern: live.load(ordering: .acquiring)) {
        let history = Unmanaged<InputHistory>.fromOpaque(address).takeUnretainedValue()
        let heard = side.heardFeeds()
        heard.withUnsafeBufferPointer {
          convolver.catchUp(with: history, HeardFeeds($0.baseAddress!, end: $0.count))
        }
      }
      preparedPeriod.store(frames, ordering: .relaxed)
      // Releasing: the callback sees all of the above once it sees the address.
      prepared.store(UInt(bitPattern: Unmanaged.passUnretained(convolver).toOpaque()), ordering: .releasing)
    }
  }

  /// Consecutive periods that the newest convolver has played through main's first filter set, unheard ones included: for
  /// tests.
  ///
  /// Thread: control side, while the callback does not run.
  package var periodsPlayed: Int {
    control.withLock { $0.newestConvolver?.voices[0]?[0].periodsPlayed ?? 0 }
  }

  /// Requests a crossfade to `filters` at amplitude `gain`. A report with this ticket tells how it ended.
  ///
  /// Thread: control side.
  /// - Parameters:
  ///   - feed: 0 for `main`, or what `beginFeed` returned.
  ///   - filters: with as many outputs as the feed; one for both outputs of a feed with two.
  ///   - highPass: corner of the outputs' high-pass, in hertz, below half the sample rate; nil for none.
  ///   - lineage: settings of a feed with the same number, 1 or more, are one that turns, or becomes louder: filters that
  ///     follow the sound play on until newer ones come. 0 for a setting that does not turn.
  ///   - isRestoring: whether this undoes an earlier change. The queue reserves slots for that.
  public func change(
    feed: Int = 0, to filters: FilterSet, gain: Float, highPass: Double? = nil, lineage: Int = 0,
    isRestoring: Bool = false
  ) throws(QueueRefusal) -> Ticket {
    try post(feed, filters, gain, highPass, lineage, fromReserve: isRestoring) { .change(feed: feed, $0) }
  }

  /// Requests a crossfade to other filters for the setting in force: the user's choice stays as it is. It is allowed
  /// during a take. Reports with this ticket tell when the fade began and how it ended.
  ///
  /// Thread: control side.
  /// - Parameter gain, highPass: those of the newest change.
  /// - Parameter lineage: as in `change`.
  public func substitute(
    feed: Int = 0, _ filters: FilterSet, gain: Float, highPass: Double? = nil, lineage: Int = 0
  ) throws(QueueRefusal) -> Ticket {
    try post(feed, filters, gain, highPass, lineage, isSubstitute: true, fromReserve: false) {
      .substitute(feed: feed, $0)
    }
  }

  /// Prepares `filters`, and posts the message that `makeMessage` makes of the setting.
  ///
  /// Thread: control side.
  private func post(
    _ feed: Int, _ filters: FilterSet, _ gain: Float, _ highPass: Double?, _ lineage: Int,
    isSubstitute: Bool = false, fromReserve: Bool, _ makeMessage: (FilterSetting) -> ControlMessage
  ) throws(QueueRefusal) -> Ticket {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      guard side.takes(filters, on: feed) else { throw .noFeed }
      let setting = use(
        filters, gain, highPass, lineage: lineage, isSubstitute: isSubstitute, on: feed, &side)
      guard messages.push(makeMessage(setting), fromReserve: fromReserve) else {
        side.forget(setting.ticket)
        throw .queueFull
      }
      return setting.ticket
    }
  }

  /// Prepares `filters` for the convolvers in use, and keeps them until the callback releases them.
  ///
  /// Thread: control side.
  func use(
    _ filters: FilterSet, _ gain: Float, _ highPass: Double?, lineage: Int, isSubstitute: Bool = false,
    on feed: Int, _ side: inout ControlSide
  ) -> FilterSetting {
    let ticket = Ticket.next()
    for convolver in [side.previousConvolver, side.newestConvolver] {
      if let convolver { filters.prepare(convolver.layout, generation: convolver.generation) }
    }
    side.filtersInUse[ticket.number] = filters
    side.feedOfTicket[ticket.number] = feed
    return FilterSetting(
      ticket: ticket, filters: .passUnretained(filters), gain: gain,
      highPass: HighPassFilter(corner: highPass ?? 0, sampleRate: sampleRate), isSubstitute: isSubstitute,
      lineage: lineage)
  }

  /// Requests a take. It begins with the first period after everything accepted before has been applied. From now until
  /// `endTake` every change is refused.
  ///
  /// Thread: control side.
  /// - Parameter followingTransport: begins with the first period after that in which JACK's transport rolls, and ends
  ///   with the last one.
  public func beginTake(into ring: TakeRing, followingTransport: Bool = false) throws(QueueRefusal) -> Ticket
  {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      let ticket = Ticket.next()
      ring.reserveMemory(frames: longestHistory, instructionSet)
      side.ringsInUse[ticket.number] = ring
      guard
        messages.push(
          .beginTake(ticket, .passUnretained(ring), followsTransport: followingTransport))
      else {
        side.ringsInUse[ticket.number] = nil
        throw .queueFull
      }
      return ticket
    }
  }

  /// Requests the end of the take.
  ///
  /// Thread: control side.
  public func endTake() throws(QueueRefusal) -> Ticket {
    try control.withLock { (side) throws(QueueRefusal) in
      let ticket = Ticket.next()
      guard messages.push(.endTake(ticket), fromReserve: true) else { throw .queueFull }
      return ticket
    }
  }

  /// Requests playback of `ring` in place of the microphones, from the next period on.
  ///
  /// Thread: control side.
  public func beginPlayback(of ring: PlaybackRing) throws(QueueRefusal) -> Ticket {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      let ticket = Ticket.next()
      side.playbacksInUse[ticket.number] = ring
      guard messages.push(.beginPlayback(ticket, .passUnretained(ring))) else {
        side.playbacksInUse[ticket.number] = nil
        throw .queueFull
      }
      return ticket
    }
  }

  /// Requests a fade-out of the playback. Its end is reported.
  ///
  /// Thread: control side.
  public func endPlayback() throws(QueueRefusal) {
    try control.withLock { (_) throws(QueueRefusal) in
      guard messages.push(.endPlayback, fromReserve: true) else { throw .queueFull }
    }
  }

  /// Returns the callback's reports since the last call, oldest first.
  ///
  /// Thread: control side.
  public func drainReports() -> [Report] {
    control.withLock { side in
      collect(&side)
      defer { side.pendingReports = [] }
      return side.pendingReports
    }
  }

  /// Drains the report queue, and releases what the callback no longer uses.
  ///
  /// Thread: control side.
  func collect(_ side: inout ControlSide) {
    while let report = reports.pop() {
      switch report {
      case .released(let ticket): side.forget(ticket)
      case .applied(let ticket, _):
        if let feed = side.feedOfTicket[ticket.number] { side.feeds[feed]?.inForce = ticket }
        if let resident = ticket.resident { side.residentInForce = resident }
      case .feedBegan(let ticket): side.feedHasBegun(ticket)
      case .feedEnded(_, let feed): remove(feed, &side)
      case .convolverReplaced(let serial):
        side.convolversInUse[serial] = nil
        stream?.forget(convolver: serial)
        if side.previousConvolver?.serial == serial { side.previousConvolver = nil }
      case .playbackEnded(let ticket): side.playbacksInUse[ticket.number] = nil
      case .refused(let ticket, _):
        side.ringsInUse[ticket.number] = nil
        if let feed = side.feedIsRefused(ticket) { remove(feed, &side) }
      case .takeEnded(_, let take, _), .transportStopped(let take, _): side.ringsInUse[take.number] = nil
      default: break
      }
      switch report {
      case .released, .convolverReplaced: break
      default: side.pendingReports.append(report)
      }
    }
  }

  /// Levels of the microphones in channel order, then left and right.
  ///
  /// Thread: any.
  public var levels: [Level] { (0..<microphones + 2).map { meters.level($0) } }

  /// Levels of the `outputs` of feeds other than `main`, from the place `firstOutput` on.
  ///
  /// Thread: any.
  public func feedLevels(firstOutput: Int, outputs: Int) -> [Level] {
    (0..<outputs).map { meters.level(microphones + 2 + firstOutput + $0) }
  }

  /// Thread: any.
  public var statistics: EngineStatistics {
    EngineStatistics(
      frames: counters.frames.load(ordering: .relaxed),
      recording: counters.recording.load(ordering: .relaxed),
      rejectedSamples: counters.rejectedSamples.load(ordering: .relaxed),
      clippedSamples: counters.clippedSamples.load(ordering: .relaxed),
      unpreparedPeriods: counters.unpreparedPeriods.load(ordering: .relaxed),
      lateAdaptations: stream?.lateAdaptations ?? 0)
  }

  /// Starts with `filters` in force, without a fade. Call it only before the first period.
  ///
  /// Thread: control side.
  /// - Parameter highPass, lineage: as in `change`.
  public func start(with filters: FilterSet, gain: Float = 1, highPass: Double? = nil, lineage: Int = 0) {
    start(feed: 0, with: filters, gain: gain, highPass: highPass, lineage: lineage)
  }

  /// From now on, the microphones' samples have been muted and faded already, until `setInputs`.
  ///
  /// Thread: control side, while the callback does not run.
  public func takeInputsAsTheyAre() {
    state.pointee.takesInputsAsTheyAre = true
    for microphone in 0..<microphones { microphoneGuard.set(microphone, cleanFrames: .max) }
  }

  /// Gives the microphones a memory, as a take's ring kept it.
  ///
  /// Thread: control side, while the callback does not run.
  public func setInputs(_ memory: [InputMemory]) {
    state.pointee.takesInputsAsTheyAre = false
    for (microphone, input) in memory.enumerated() where microphone < microphones {
      microphoneGuard.set(microphone, cleanFrames: input.cleanFrames)
      dropouts.set(microphone, input.dropout)
    }
  }

  /// Gives the high-pass of a feed's outputs a memory, as a take's ring kept it.
  ///
  /// Thread: control side, while the callback does not run.
  /// - Parameter memory: of the feed's first outputs.
  public func setHighPasses(feed: Int, _ memory: [SIMD2<Double>]) {
    for (n, values) in memory.enumerated() {
      let pair = feeds.highPassMemory(feed, pair: n / 2)
      pair[0].first[n % 2] = values.x
      pair[0].second[n % 2] = values.y
    }
  }

  /// Thread: control side.
  func start(feed: Int, with filters: FilterSet, gain: Float, highPass: Double?, lineage: Int) {
    precondition(statistics.frames == 0)
    control.withLock { side in
      precondition(side.takes(filters, on: feed))
      let setting = use(filters, gain, highPass, lineage: lineage, on: feed, &side)
      side.feeds[feed]?.inForce = setting.ticket
      feeds.states[feed].current = setting
    }
  }
}
