import Glibc
import JackClient
import Messages
import Settings

/// Changes in the graph that Pinna did not cause: ports, connections, the period, stalls.
extension Processor {
  /// The values in the latest events about the graph; nil before the first check.
  struct NotifiedValues: Equatable {
    var period: Int?
    var capturePorts: [String]?
  }

  /// Checks the graph about 20 times a second, at rest twice; calls in between only handle reports.
  func pollGraph() {
    guard let client, state.isInGraph else {
      if !changesAwaitingConnections.isEmpty { answerConnectedChanges(upTo: nil) }
      if !warnings.current.isEmpty { _ = warnings.update([], now: world.now) }
      return
    }
    for report in client.drainGraphReports() { handle(report) }
    noteFreewheel(client)
    if !changesAwaitingConnections.isEmpty { answerConnectedChanges(upTo: graph.checkNumber) }
    guard world.now >= nextGraphCheck else { return }
    watchPeriodCount(client)
    _ = client.checkGraph(for: inForce)
    let readings = client.readings
    watchPeriodLength(readings.period)
    watchInputs(readings)
    hear(readings)
    nextGraphCheck = world.now + currentWatchInterval
  }

  /// Answers `request` for a change that is in force. If the change affects connections, the answer waits until they
  /// are made, for 1 s at most.
  func answer(_ request: Request, changeFrom old: Setting) {
    let report = changeReport()
    guard let client,
      old.device != inForce.device || old.output != inForce.output || old.connections != inForce.connections
    else {
      return request.answer(.done(report))
    }
    changesAwaitingConnections.append(
      (request, report, client.checkGraph(for: inForce), world.now + .seconds(1)))
  }

  /// Answers the changes whose connections are made, or whose deadline has passed.
  /// - Parameter finished: number of the latest graph check that has ended; nil to answer all, because none will end.
  func answerConnectedChanges(upTo finished: Int?) {
    let isDone = { [self] (check: Int, deadline: ContinuousClock.Instant) in
      finished.map { check <= $0 } ?? true || hasPassed(deadline)
    }
    let done = changesAwaitingConnections.filter { isDone($0.graphCheck, $0.deadline) }
    changesAwaitingConnections.removeAll { isDone($0.graphCheck, $0.deadline) }
    for change in done { change.request.answer(.done(change.report)) }
  }

  /// Ports or connections have appeared or disappeared: checks the graph on the next poll.
  package func graphChanged() {
    stir()
    nextGraphCheck = world.now
  }

  private func watchPeriodCount(_ client: any AudioClient) {
    switch watchdog.observe(periods: client.periodsRun, now: world.now) {
    case .stalled:
      let sources = inForce.device.microphones.flatMap { graph.connections[$0.name] ?? [] }
      let sentence = StatusFields.stallText(sources: sources)
      warn(sentence)
      state.take?.take.note("no periods reached Pinna from here on")
      notify(.serverStalled, sentence)
    case .resumed(let stallDuration):
      let sentence = "periods reach Pinna again, after \(stallDuration.formatted)"
      warn(sentence)
      notifyAndRecord(.serverResumed, sentence)
    case nil: break
    }
  }

  /// Notes in a take that the server went over to freewheel, or back.
  private func noteFreewheel(_ client: any AudioClient) {
    let changes = client.freewheelChanges
    defer { freewheelChanges = changes }
    guard let take = state.take?.take, changes > freewheelChanges else { return }
    for number in max(freewheelChanges + 1, changes - 9)...changes {
      take.note(number % 2 == 1 ? "the server went over to freewheel" : "the server ended freewheel")
    }
  }

  /// Joins the graph again if it runs periods for a new client, but none for ours.
  func pollStall() {
    let mayRejoin = reconnects && state.isInGraph && !isStopping && watchdog.isStalled
    guard stallProbe.poll(isStalled: mayRejoin, now: world.now, ask: world.probePeriods), let client else {
      return
    }
    // Periods may have run since the last graph check.
    watchPeriodCount(client)
    if watchdog.isStalled {
      rejoinGraph(because: "the JACK server ran no periods for Pinna, although it does for new clients")
    }
  }

  private func handle(_ report: GraphReport) {
    if !report.events.isEmpty { stir() }
    graph = report
    var restored: [String] = []
    for event in report.events {
      switch event {
      case .lost(let wire):
        takes.portsAwaitingPeers.insert(wire.port)
        warn("\(wire.port) has lost \(wire.peer); Pinna connects it again when \(wire.peer) is back")
        notifyAndRecord(.portGone, "\(wire.port) has lost \(wire.peer)")
      case .forgotten(let wire):
        warn("\(wire.port) has lost \(wire.peer)")
        notify(.portGone, "\(wire.port) has lost \(wire.peer)")
      case .restored(let wire):
        takes.portsAwaitingPeers.remove(wire.port)
        restored.append("\(wire.port) to \(wire.peer)")
        notifyAndRecord(.portBack, "\(wire.port) is connected to \(wire.peer) again")
      }
    }
    if !restored.isEmpty { warn("connected again: \(restored.sorted().joined(separator: ", "))") }
    if let target = report.newTarget {
      notify(
        .outputChanged,
        target.isEmpty
          ? "the outputs are connected to no port" : "sound goes out to \(target.joined(separator: ", "))")
    }
    if let old = lastNotified.capturePorts, old != report.capturePorts {
      notify(
        .inputsChanged,
        "the number of physical capture ports changed from \(old.count) to \(report.capturePorts.count)")
    }
    lastNotified.capturePorts = report.capturePorts
  }

  private func watchPeriodLength(_ frames: Int) {
    if let old = lastNotified.period, old != frames {
      notify(.periodChanged, "the period changed from \(old) to \(frames) frames")
    }
    lastNotified.period = frames
  }

  func notifyOfChange(from old: Setting, to new: Setting) {
    if old.device != new.device {
      notify(.inputChanged, "the input changed from \(old.device.uid) to \(new.device.uid)")
    } else if old.main.selection != new.main.selection {
      let s = new.main.selection
      notify(
        .selectionChanged,
        "\(s.dataSource), \(s.polarPattern.rawValue), \(s.inputOrientation.rawValue) is in force")
    }
  }

  /// Requests the power-of-two period nearest to `seconds`. The answer contains the period that the server then uses.
  package func requestPeriod(seconds: Double, _ request: Request) throws {
    let client = try clientOutsideTakeOrFadeOut()
    guard periodRequests.count < 8 else {
      throw Failure(
        .failed, "the JACK server has not answered earlier requests for a period; try again when it does")
    }
    let exponent = log2(seconds * Double(client.sampleRate)).rounded()
    let job = client.requestPeriod(1 << Int(min(max(exponent, 4), 12)))
    periodRequests.append((job, request, world.now + .seconds(5)))
  }

  func pollPeriodRequests() {
    for n in periodRequests.indices.reversed() {
      let waiting = periodRequests[n]
      switch waiting.job.result {
      case .success(let period): waiting.request.answer(.done(["period": period]))
      case .failure(let failure): waiting.request.fail(failure)
      case nil where hasPassed(waiting.deadline):
        waiting.job.abandon()
        waiting.request.fail(.failed, "the JACK server does not answer; try again when it does")
      case nil: continue
      }
      periodRequests.remove(at: n)
    }
  }
}

extension Duration {
  /// "3.2 s"
  var formatted: String { "\((self / .milliseconds(100)).rounded() / 10) s" }
}
