import Synchronization

/// Why a request never reached the callback.
public enum QueueRefusal: Error, Hashable, CustomStringConvertible {
  case queueFull
  public var description: String { "too many changes are waiting; try again in a moment" }

}

/// State of the control side, behind `Engine.control`.
struct ControlSide {
  // Objects that the callback may still read, by ticket. Each is released after the callback's report.
  var filtersInUse: [UInt64: FilterSet] = [:]
  var ringsInUse: [UInt64: TakeRing] = [:]
  var playbacksInUse: [UInt64: PlaybackRing] = [:]
  /// Convolvers that the callback may still use, by serial. Each is released after the callback's report.
  var convolversInUse: [Int: Convolver] = [:]
  /// The setting in force, as far as reports have been drained.
  var inForce: Ticket?
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
        if let newest = side.newestConvolver { side.convolversInUse[newest.serial] = nil }
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
      let sets = side.filtersInUse.sorted { $0.key < $1.key }
      for (_, filters) in sets { filters.prepare(layout, generation: generation) }
      // Acquiring: the history's ring is visible. It lives as long as its owner is in use.
      if let address = UnsafeRawPointer(bitPattern: live.load(ordering: .acquiring)) {
        let history = Unmanaged<InputHistory>.fromOpaque(address).takeUnretainedValue()
        let current = side.inForce?.number ?? 0
        var heard: [FilterSet] = []
        for (ticket, filters) in sets where ticket >= current && !heard.contains(where: { $0 === filters }) {
          heard.append(filters)
        }
        convolver.catchUp(with: history, heard)
      }
      // Releasing: the callback sees all of the above once it sees the address.
      prepared.store(UInt(bitPattern: Unmanaged.passUnretained(convolver).toOpaque()), ordering: .releasing)
    }
  }

  /// Consecutive periods that the newest convolver has played through its first filter set, unheard ones included: for
  /// tests.
  ///
  /// Thread: control side, while the callback does not run.
  package var periodsPlayed: Int {
    control.withLock { $0.newestConvolver?.voices[0].periodsPlayed ?? 0 }
  }

  /// Requests a crossfade to `filters` at amplitude `gain`. A report with this ticket tells how it ended.
  ///
  /// Thread: control side.
  /// - Parameter highPass: corner of the outputs' high-pass, in hertz, below half the sample rate; nil for none.
  /// - Parameter isRestoring: whether this undoes an earlier change. The queue reserves slots for that.
  public func change(
    to filters: FilterSet, gain: Float, highPass: Double? = nil, isRestoring: Bool = false
  ) throws(QueueRefusal) -> Ticket {
    try post(filters, highPass, fromReserve: isRestoring) { ticket, filters, highPass in
      .change(ticket, filters, gain: gain, highPass)
    }
  }

  /// Requests a crossfade to other filters for the setting in force: the user's choice stays as it is. It is allowed
  /// during a take. Reports with this ticket tell when the fade began and how it ended.
  ///
  /// Thread: control side.
  /// - Parameter gain, highPass: those of the newest change.
  public func substitute(
    _ filters: FilterSet, gain: Float, highPass: Double? = nil
  ) throws(QueueRefusal) -> Ticket {
    try post(filters, highPass, fromReserve: false) { ticket, filters, highPass in
      .substitute(ticket, filters, gain: gain, highPass)
    }
  }

  /// Prepares `filters`, and posts the message that `makeMessage` makes of them.
  ///
  /// Thread: control side.
  private func post(
    _ filters: FilterSet, _ highPass: Double?, fromReserve: Bool,
    _ makeMessage: (Ticket, Unmanaged<FilterSet>, HighPassFilter) -> ControlMessage
  ) throws(QueueRefusal) -> Ticket {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      let ticket = Ticket.next()
      for convolver in [side.previousConvolver, side.newestConvolver] {
        if let convolver { filters.prepare(convolver.layout, generation: convolver.generation) }
      }
      side.filtersInUse[ticket.number] = filters
      let message = makeMessage(
        ticket, .passUnretained(filters), HighPassFilter(corner: highPass ?? 0, sampleRate: sampleRate))
      guard messages.push(message, fromReserve: fromReserve) else {
        side.filtersInUse[ticket.number] = nil
        throw .queueFull
      }
      return ticket
    }
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
  private func collect(_ side: inout ControlSide) {
    while let report = reports.pop() {
      switch report {
      case .released(let ticket): side.filtersInUse[ticket.number] = nil
      case .applied(let ticket, _): side.inForce = ticket
      case .convolverReplaced(let serial):
        side.convolversInUse[serial] = nil
        if side.previousConvolver?.serial == serial { side.previousConvolver = nil }
      case .playbackEnded(let ticket): side.playbacksInUse[ticket.number] = nil
      case .refused(let ticket, _): side.ringsInUse[ticket.number] = nil
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

  /// Thread: any.
  public var statistics: EngineStatistics {
    EngineStatistics(
      frames: counters.frames.load(ordering: .relaxed),
      recording: counters.recording.load(ordering: .relaxed),
      rejectedSamples: counters.rejectedSamples.load(ordering: .relaxed),
      clippedSamples: counters.clippedSamples.load(ordering: .relaxed),
      unpreparedPeriods: counters.unpreparedPeriods.load(ordering: .relaxed))
  }

  /// Starts with `filters` in force, without a fade. Call it only before the first period.
  ///
  /// Thread: control side.
  /// - Parameter highPass: as in `change`.
  public func start(with filters: FilterSet, gain: Float = 1, highPass: Double? = nil) {
    precondition(statistics.frames == 0)
    control.withLock { side in
      let ticket = Ticket.next()
      if let convolver = side.newestConvolver {
        filters.prepare(convolver.layout, generation: convolver.generation)
      }
      side.filtersInUse[ticket.number] = filters
      side.inForce = ticket
      setInitial(
        FilterSetting(
          ticket: ticket, filters: .passUnretained(filters), gain: gain,
          highPass: HighPassFilter(corner: highPass ?? 0, sampleRate: sampleRate)))
    }
  }
}
