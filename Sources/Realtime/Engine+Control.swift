import Synchronization

/// Why a request never reached the callback.
public enum QueueRefusal: Error, Hashable, CustomStringConvertible {
  case queueFull
  public var description: String { "too many changes are waiting; try again in a moment" }
}

/// What the control side keeps, under its lock.
struct ControlSide {
  /// Keeps alive what the callback may still read, until it says that it does not.
  var filtersInUse: [UInt64: FilterSet] = [:]
  var ringsInUse: [UInt64: TakeRing] = [:]
  var playbacksInUse: [UInt64: PlaybackRing] = [:]
  /// The convolver prepared last, and the one before it while the callback may still run on it.
  var newest: Convolver?
  var previous: Convolver?
  var convolversMade = 0
  var arrived: [Report] = []
}

/// The control side: any thread but the callback's.
extension Engine {
  /// Gets ready for periods of `frames`: builds what they need and hands it to the callback, which takes it
  /// over when the first one arrives. Filter sets in use are cut for it before that. Periods beyond
  /// `Partitioning.longestPeriod` are not prepared for: they stay silent, and are counted.
  public func prepare(period frames: Int) {
    guard (1...Partitioning.longestPeriod).contains(frames) else { return }
    control.withLock { side in
      collect(&side)
      let plan = Partitioning(microphones: microphones, taps: taps, period: frames)
      let layout = Layout(plan, lanes: kernelTables.map(\.lanes))
      if side.newest?.layout == layout { return }
      precondition(layout.historyFrames <= InputHistory.longest(taps: taps))
      // Take back one that the callback never took; it may be freed at once.
      if prepared.exchange(0, ordering: .acquiring) != 0 {
        if side.previous?.layout == layout {
          // The server came back to the period that is still running.
          side.newest = side.previous
          side.previous = nil
          return
        }
      } else {
        // What was newest is running; what ran before it is no longer in use.
        side.previous = side.newest
      }
      let generation = side.previous.map { 1 - $0.generation } ?? 0
      side.convolversMade += 1
      let convolver = Convolver(
        layout, kernels: kernelTables.first { $0.lanes == layout.lanes }!, generation: generation,
        serial: side.convolversMade)
      side.newest = convolver
      for filters in side.filtersInUse.values { filters.prepare(layout, generation: generation) }
      // Releasing: all of the above is there before the callback sees the address.
      prepared.store(UInt(bitPattern: Unmanaged.passUnretained(convolver).toOpaque()), ordering: .releasing)
    }
  }

  /// Asks for a crossfade to `filters` at amplitude `gain`; its end is reported under the ticket.
  /// - Parameter isRestoring: takes back what was asked for before, for which the queue keeps room.
  public func change(to filters: FilterSet, gain: Float, isRestoring: Bool = false) throws(QueueRefusal)
    -> Ticket
  {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      let ticket = Ticket.next()
      for convolver in [side.previous, side.newest] {
        if let convolver { filters.prepare(convolver.layout, generation: convolver.generation) }
      }
      side.filtersInUse[ticket.number] = filters
      guard messages.push(.change(ticket, .passUnretained(filters), gain: gain), fromReserve: isRestoring)
      else {
        side.filtersInUse[ticket.number] = nil
        throw .queueFull
      }
      return ticket
    }
  }

  /// Asks for a take: it begins with the first period after everything accepted before has been applied.
  /// From now until `endTake` every change is refused.
  public func beginTake(into ring: TakeRing) throws(QueueRefusal) -> Ticket {
    try control.withLock { (side) throws(QueueRefusal) in
      collect(&side)
      let ticket = Ticket.next()
      side.ringsInUse[ticket.number] = ring
      guard messages.push(.beginTake(ticket, .passUnretained(ring))) else {
        side.ringsInUse[ticket.number] = nil
        throw .queueFull
      }
      return ticket
    }
  }

  public func endTake() throws(QueueRefusal) -> Ticket {
    try control.withLock { (side) throws(QueueRefusal) in
      let ticket = Ticket.next()
      guard messages.push(.endTake(ticket), fromReserve: true) else { throw .queueFull }
      return ticket
    }
  }

  /// Asks for what comes through `ring` in place of the microphones, from the next period on.
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

  /// Fades a playback out; its end is reported.
  public func endPlayback() throws(QueueRefusal) {
    try control.withLock { (_) throws(QueueRefusal) in
      guard messages.push(.endPlayback, fromReserve: true) else { throw .queueFull }
    }
  }

  /// What the callback has reported since the last call, oldest first.
  public func takeReports() -> [Report] {
    control.withLock { side in
      collect(&side)
      defer { side.arrived = [] }
      return side.arrived
    }
  }

  /// Reads the callback's queue and lets go of what it no longer uses.
  private func collect(_ side: inout ControlSide) {
    while let report = reports.pop() {
      switch report {
      case .released(let ticket): side.filtersInUse[ticket.number] = nil
      case .convolverReplaced(let serial):
        if side.previous?.serial == serial { side.previous = nil }
      case .playbackEnded(let ticket): side.playbacksInUse[ticket.number] = nil
      case .refused(let ticket, _): side.ringsInUse[ticket.number] = nil
      case .takeEnded(_, let take, _): side.ringsInUse[take.number] = nil
      default: break
      }
      switch report {
      case .released, .convolverReplaced: break
      default: side.arrived.append(report)
      }
    }
  }

  /// Levels of the microphones in channel order, then left and right.
  public var levels: [Level] { (0..<microphones + 2).map { meters.level($0) } }

  public var statistics: EngineStatistics {
    EngineStatistics(
      frames: counters.frames.load(ordering: .relaxed),
      recording: counters.recording.load(ordering: .relaxed),
      rejectedSamples: counters.rejectedSamples.load(ordering: .relaxed),
      clippedSamples: counters.clippedSamples.load(ordering: .relaxed),
      unpreparedPeriods: counters.unpreparedPeriods.load(ordering: .relaxed))
  }

  /// Starts with `filters` sounding, without a fade. Only before the first period.
  public func start(with filters: FilterSet, gain: Float = 1) {
    precondition(statistics.frames == 0)
    control.withLock { side in
      let ticket = Ticket.next()
      if let convolver = side.newest { filters.prepare(convolver.layout, generation: convolver.generation) }
      side.filtersInUse[ticket.number] = filters
      setInitial(Sound(ticket: ticket, filters: .passUnretained(filters), gain: gain))
    }
  }
}
