import JackClient
import Messages
import Recording
import Rendering
import Settings

/// Joining a graph, leaving it when the server goes, and reconnecting.
extension Processor {
  /// The server's state, as reported by `status`.
  package var serverState: StatusFields.Server {
    switch state.kind {
    case .absent, .opening, .leaving: reconnection?.isRejoining ?? false ? .joining : .gone
    case .stranded: .gone
    case .joining, .preparing: .joining
    case .unusable: .unusable
    default: watchdog.isStalled ? .stalled : .running
    }
  }

  /// Why the first graph could not be joined; nil once the processor has joined a graph.
  /// - Parameter isWaiting: whether to keep waiting for a server that is absent, starting or frozen.
  package func startFailure(isWaiting: Bool) -> Failure? {
    guard filters == nil, let failure = reconnection?.lastFailure else { return nil }
    guard isWaiting, !failure.isFinal, !isFinallyUnusable, state.kind != .stranded else { return failure }
    reconnection?.lastFailure = nil
    return nil
  }

  /// Whether the server cannot be used, and waiting will not help. A netjack2 driver that has found no master yet has no
  /// sample rate, and gets one later.
  private var isFinallyUnusable: Bool {
    if case .unusable(let client) = state { client.sampleRate > 0 } else { false }
  }

  /// Handles the loss of the server, or of the place in its graph: ends a take with the frames in its ring, fails all
  /// requests, and closes the client.
  func leaveServer(_ loss: ClientLoss) {
    let cause =
      switch loss {
      case .server(let reason): "the JACK server has gone (\(reason))"
      case .removed: "another program has removed Pinna from the graph"
      }
    let failure = Failure(.noServer, "\(cause) before this was done; start it again")
    wantRestored()
    if case .stopping = state {
      closeTakeAtStop(isCutOff: true)
      return failPendingChanges(failure)
    }
    guard case .server(let reason) = loss else { return rejoinGraph(because: cause) }
    let previous = state
    // libjack shares the server's memory among a process's clients: close this one before opening the next.
    if let client { enter(.leaving(client.close())) } else { enter(.absent) }
    reconnection = Reconnection(reason: reason, now: world.now)
    endAll(of: previous, failure, cause: cause)
    if previous.isInGraph {
      // Without reconnection the loss is final, and `pinna run` reports it as its result.
      if reconnects { warn("\(cause); Pinna reconnects when it is back") }
      notify(.serverGone, cause)
    }
  }

  /// Leaves the graph of a running server, and joins it again with another client, under the name that the world has now.
  /// - Parameter cause: why, as the beginning of a sentence.
  package func rejoinGraph(because cause: String) {
    guard let client else { return }
    warn("\(cause); Pinna joins the graph again")
    let previous = state
    wantRestored()
    enter(.leaving(client.close()))
    reconnection = Reconnection(reason: cause, isRejoining: true, now: world.now)
    endAll(of: previous, Failure(.noServer, "\(cause); try again in a moment"), cause: cause)
    notify(.serverGone, cause)
  }

  /// Ends what went on in `previous`, because its engine plays no more: a take ends with the frames in its ring, and all
  /// requests fail.
  /// - Parameter cause: why a take ended, for its sidecar.
  private func endAll(of previous: ProcessorState, _ failure: Failure, cause: String) {
    if let recording = previous.take { close(recording, isCutOff: true, failure, cause: .fault(cause)) }
    endAllButTake(of: previous, failure)
    heard.leave()
  }

  /// Ends what went on in `previous` besides a take: all requests fail.
  func endAllButTake(of previous: ProcessorState, _ failure: Failure) {
    switch previous {
    case .openingPlayback(let player, let request): cancelPlayback(player, request, failure)
    case .playing(let playing), .endingPlayback(let playing): finish(playing)
    case .fadingOut(let change, let engine, _, _):
      engine.discard()
      fail(change, failure)
    case .opening(let job): job.abandon { _ = $0.close() }
    case .joining(_, let job): job.abandon()
    case .preparing(_, _, let job): abandon(job)
    default: break
    }
    drop(change, failure)
    change = nil
    failPendingChanges(failure)
    failFeedRequests(failure)
    let waiting = periodRequests.map(\.request)
    periodRequests = []
    for request in waiting { request.fail(failure) }
    resetEngine()
  }

  /// Notices that the server has changed its sample rate. The client stays, but everything that depends on the old rate
  /// ends, and the graph is joined again with filters for the new one.
  func pollSampleRate() {
    guard let client else { return }
    switch state.kind {
    case .joining, .unusable:
      guard client.sampleRate != reconnection?.sampleRate else { return }
      if case .joining(_, let job) = state { job.abandon() }
      join(client)
    case .absent, .opening, .preparing, .leaving, .stranded, .stopping, .stopped: return
    default:
      guard let filters, client.isRetired || client.sampleRate != filters.sampleRate else { return }
      leaveSampleRate(filters.sampleRate, client)
    }
  }

  private func leaveSampleRate(_ old: Int, _ client: any AudioClient) {
    let new = client.sampleRate
    let cause =
      old == new
      ? "the sample rate left \(old) Hz for a moment" : "the sample rate changed from \(old) to \(new) Hz"
    warn("\(cause); Pinna continues when its filters are ready")
    let previous = state
    wantRestored()
    heard.leave()
    reconnection = Reconnection(reason: nil, now: world.now)
    join(client)
    endAll(
      of: previous, Failure(.failed, "\(cause) before this was done; try again in a moment"), cause: cause)
  }

  /// Advances the connection to the server: opens a client, designs filters, registers ports, joins the graph.
  func pollServer() {
    if let client, let loss = client.loss {
      switch state.kind {
      case .joining, .preparing, .unusable: return leaveServer(loss)
      default: break
      }
    }
    switch state {
    case .absent:
      guard let reconnection, world.now >= reconnection.nextTry else { return }
      self.reconnection?.waitForNextTry(now: world.now)
      enter(.opening(world.openClient()))
    case .opening(let job):
      switch job.result {
      case .success(let new): join(new)
      case .failure(let failure):
        if failure.status != .noServer || filters == nil { warnOnce(failure) }
        if failure.status == .noServer { reconnection?.serverIsAbsent() }
        enter(.absent)
      case nil where isLate:
        warnOnce(Failure(.failed, "the JACK server is there, but does not answer"))
        // libjack opens one client at a time: keep waiting for the same job.
        enter(state)
      case nil: break
      }
    case .joining(let client, let job):
      switch job.result {
      case .success(let filters): prepare(client, filters)
      case .failure(let failure): becomeUnusable(client, failure)
      case nil where isLate:
        job.abandon()
        becomeUnusable(client, Failure(.failed, "the design of its filters took longer than 10 minutes"))
      case nil: break
      }
    case .preparing(let client, let filters, let job):
      switch job.result {
      case .success(let engine): enterGraph(client, filters, engine)
      case .failure(let failure):
        warnOnce(failure)
        enter(.leaving(client.close()))
      case nil where isLate:
        warnOnce(Failure(.failed, "the JACK server does not answer"))
        abandon(job)
        enter(.leaving(client.close()))
      case nil: break
      }
    case .leaving(let job):
      switch job.result {
      case .success: enter(.absent)
      case .failure(let failure): strand(failure.description)
      case nil where isLate:
        job.abandon()
        strand("libjack does not return")
      case nil: break
      }
    default: break
    }
  }

  /// Gives up reconnecting, because the previous client cannot be closed.
  /// - Parameter cause: why it cannot be closed.
  private func strand(_ cause: String) {
    reconnection?.obstacle = cause
    enter(.stranded)
    let sentence = reconnection?.sentence(state) ?? cause
    reconnection?.lastFailure = Failure(.noServer, sentence)
    // Before the first graph, `startFailure` reports it.
    if filters != nil { warn(sentence) }
  }

  private func join(_ new: any AudioClient) {
    client = new
    reconnection?.sampleRate = new.sampleRate
    if let filters, filters.sampleRate == new.sampleRate { return prepare(new, filters) }
    enter(.joining(new, world.design(wanted.device, sampleRate: new.sampleRate)))
  }

  private func prepare(_ client: any AudioClient, _ filters: FilterSets) {
    do { try check(wanted.main.selection, of: wanted.device, in: filters) } catch {
      return becomeUnusable(client, Failure(error))
    }
    enter(.preparing(client, filters, client.prepare(filters, for: wanted.device)))
  }

  /// Keeps the client open, so that the loss of this server is noticed, too.
  private func becomeUnusable(_ client: any AudioClient, _ failure: Failure) {
    reconnection?.obstacle = failure.description
    reconnection?.lastFailure = failure
    enter(.unusable(client))
    if filters != nil { warn(reconnection?.sentence(state) ?? "") }
  }

  private func enterGraph(_ client: any AudioClient, _ new: FilterSets, _ engine: any PreparedEngine) {
    let isFirst = filters == nil
    let isSameServer = reconnection?.reason == nil
    let isRejoining = reconnection?.isRejoining ?? false
    engine.adopt()
    heard.join(with: new)
    client.use(onDemand.choice)
    enter(.live)
    reconnection = nil
    watchdog = Watchdog()
    // A report on the previous graph does not apply to this one.
    graph = GraphReport()
    try? post(wanted, nil, isRestoring: true)
    warnOfShortPreRoll()
    guard !isFirst else {
      if let remark = client.remark { warn(remark) }
      return
    }
    nextGraphCheck = world.now
    let setting = "period \(client.readings.period); preset \(wanted.preset)"
    if isSameServer {
      notify(.sampleRateChanged, "the sample rate is \(new.sampleRate) Hz now")
      warn("the sample rate is \(new.sampleRate) Hz now, \(setting)")
    } else {
      let sentence = isRejoining ? "Pinna has joined the graph again" : "the JACK server is back"
      notify(.serverBack, sentence)
      warn("\(sentence), at \(new.sampleRate) Hz, \(setting)")
    }
  }

  /// Warns only when the failure differs from that of the previous attempt.
  private func warnOnce(_ failure: Failure) {
    if filters != nil, reconnection?.lastFailure != failure { warn(failure.description) }
    reconnection?.lastFailure = failure
  }
}
