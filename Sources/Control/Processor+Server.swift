import Recording

/// Into a graph, out of one whose server has gone, and back.
extension Processor {
  /// How it stands with the server, as `status` says it.
  package var serverState: Rejoin.State {
    switch state.kind {
    case .absent, .opening, .leaving, .stranded: .gone
    case .joining, .preparing: .joining
    case .unusable: .unusable
    default: watchdog.isStalled ? .stalled : .running
    }
  }

  /// What stands in the way of the first graph; nil once we are, or were, in one.
  /// - Parameter isWaiting: a server may yet come, or one that is starting or frozen let us in.
  package func startFailure(isWaiting: Bool) -> Failure? {
    guard filters == nil, let failure = rejoin?.complaint else { return nil }
    guard isWaiting, !failure.isFinal, state.kind != .unusable else { return failure }
    rejoin?.complaint = nil
    return nil
  }

  /// The server has gone: a take ends with what is in its ring, everyone who waits is told, and the client is closed.
  func leaveServer(_ reason: String) {
    let sentence = "the JACK server has gone (\(reason)) before this was done; start it again"
    if case .stopping = state {
      closeTakeAtStop(isCutOff: true)
      return answerPending(.noServer, sentence)
    }
    let left = state
    // Libjack shares the server's memory among a program's clients: closed before the next is opened.
    if let client { enter(.leaving(client.close())) } else { enter(.absent) }
    rejoin = Rejoin(reason: reason, now: world.now)
    switch left {
    case .openingTake(let recording), .startingTake(let recording, _), .recording(let recording),
      .endingTake(let recording, _):
      close(
        recording, isCutOff: true, .noServer, sentence, cause: "the JACK server has gone (\(reason))")
    case .openingPlayback(let player, let request): giveUp(player, request, .noServer, sentence)
    case .playing(let playing), .endingPlayback(let playing): finish(playing)
    case .fadingOut(let change, _, _, _):
      for request in change.requests { request.fail(.noServer, sentence) }
    case .joining(_, let job): job.abandon()
    case .preparing(_, _, let job): job.abandon()
    default: break
    }
    drop(change, .noServer, sentence)
    change = nil
    answerPending(.noServer, sentence)
    filters = filtersInForce ?? filters
    failPeriodRequests(.noServer, sentence)
    if left.isInGraph {
      // Otherwise this is the end, which whoever runs the processor tells of.
      if reconnects { warn("the JACK server has gone (\(reason)); Pinna goes on when it is back") }
      notify(EngineEvent(.serverGone, "the JACK server has gone (\(reason))"))
    }
  }

  /// Looks for the server, and goes into its graph.
  func pollServer() {
    if let client, let reason = client.lossReason {
      switch state.kind {
      case .joining, .preparing, .unusable: return leaveServer(reason)
      default: break
      }
    }
    switch state {
    case .absent:
      guard let rejoin, world.now >= rejoin.nextTry else { return }
      self.rejoin?.waitForNextTry(now: world.now)
      enter(.opening(world.openClient()))
    case .opening(let job):
      switch job.result {
      case .success(let new): join(new)
      case .failure(let failure):
        if failure.status != .noServer || filters == nil { complainOnce(failure) }
        enter(.absent)
      case nil where isLate:
        complainOnce(Failure(.failed, "the JACK server is there, but does not answer"))
        // libjack opens one client at a time: the same job goes on.
        enter(state)
      case nil: break
      }
    case .joining(let client, let job):
      switch job.result {
      case .success(let filters): prepare(client, filters)
      case .failure(let failure): refuse(client, failure)
      case nil where isLate:
        job.abandon()
        refuse(client, Failure(.failed, "the design of its filters took longer than 10 minutes"))
      case nil: break
      }
    case .preparing(let client, let filters, let job):
      switch job.result {
      case .success(let engine): enterGraph(client, filters, engine)
      case .failure(let failure):
        complainOnce(failure)
        enter(.leaving(client.close()))
      case nil where isLate:
        complainOnce(Failure(.failed, "the JACK server does not answer"))
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
        strand(client?.closingFault ?? "libjack does not return")
      case nil: break
      }
    default: break
    }
  }

  /// - Parameter cause: why the client of the server that has gone cannot be closed.
  private func strand(_ cause: String) {
    rejoin?.obstacle = cause
    enter(.stranded)
    warn(rejoin?.sentence(state) ?? cause)
  }

  private func join(_ new: any AudioClient) {
    client = new
    if let filters, filters.sampleRate == new.sampleRate { return prepare(new, filters) }
    enter(.joining(new, world.design(inForce.device, sampleRate: new.sampleRate)))
  }

  private func prepare(_ client: any AudioClient, _ filters: any DeviceFilters) {
    do { try filters.check(inForce.selection, of: inForce.device) } catch {
      return refuse(client, Failure(error))
    }
    enter(.preparing(client, filters, client.prepare(filters, for: inForce.device)))
  }

  /// The client stays, so that we hear when this server goes, too.
  private func refuse(_ client: any AudioClient, _ failure: Failure) {
    rejoin?.obstacle = failure.description
    rejoin?.complaint = failure
    enter(.unusable(client))
    if filters != nil { warn(rejoin?.sentence(state) ?? "") }
  }

  private func enterGraph(_ client: any AudioClient, _ new: any DeviceFilters, _ engine: any PreparedEngine) {
    let isFirst = filters == nil
    client.adopt(engine)
    filters = new
    filtersInForce = new
    enter(.live)
    rejoin = nil
    watchdog = Watchdog()
    // What the last graph looked like says nothing of this one.
    graph = GraphNews()
    try? post(inForce, nil, isRestoring: true)
    tellOfPreRoll()
    guard !isFirst else { return }
    notify(EngineEvent(.serverBack, "the JACK server is back"))
    warn(
      "the JACK server is back, at \(client.sampleRate) Hz, period \(client.readings.period); preset \(inForce.preset)"
    )
    nextLook = world.now
  }

  /// Of an attempt that is made again and again.
  private func complainOnce(_ failure: Failure) {
    if filters != nil, rejoin?.complaint != failure { warn(failure.description) }
    rejoin?.complaint = failure
  }
}
