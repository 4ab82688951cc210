import Acoustics
import Glibc
import Messages
import Realtime
import Recording
import Settings

/// Takes. They begin and end through the same callback queue as every change, so the callback orders them.
extension Processor {
  /// Starts a take. Answers when the callback has begun it; one that follows the transport when it is armed, or begun.
  package func startTake(_ takeRequest: TakeRequest, _ request: Request) throws {
    let client = try clientOutsideTakeOrFadeOut()
    try refuseDuringPlayback()
    try refuseWhileDiskHangs()
    if machines.values.contains(where: \.isAddingOrRemoving) {
      throw Failure(.failed, "a feed is being added or removed; try again in a moment")
    }
    guard takes.closing.count < Takes.maxClosing else {
      throw Failure(
        .failed,
        "\(takes.closing.count) takes are still being written; wait until they are on disk, see: pinna status"
      )
    }
    var setting = wanted.withoutListening
    let recorded = try feeds(ofTake: takeRequest.feeds)
    // While filters for a change are designed, the feed plays as before, and during the take nothing changes.
    setting.want(setting.others.map { heardFeed($0.name) ?? $0 })
    let take = client.openTake(
      in: takeRequest.folder ?? world.takesFolder, takeRequest.options, setting, feeds: recorded)
    enter(
      .openingTake(
        Recording(take: take, followsTransport: takeRequest.followsTransport, startRequest: request)))
  }

  /// The feeds to record, `main` by its name among them.
  /// - Parameter names: nil for all that are heard, empty for all.
  /// - Throws: `UnknownWord` for one that there is not; a `Failure` for one that is not heard yet.
  private func feeds(ofTake names: [String]?) throws -> [String] {
    let all = wanted.feeds.map(\.name)
    guard let names else { return all.filter { FeedSetting.isMain($0) || heardFeed($0) != nil } }
    let asked = names.map { $0.lowercased() }
    let chosen = names.isEmpty ? all : all.filter { asked.contains($0.lowercased()) }
    if let unknown = names.first(where: { name in !all.contains { $0.lowercased() == name.lowercased() } }) {
      throw UnknownWord(kind: "feed", word: unknown, choices: all + ["all"])
    }
    for feed in wanted.others where chosen.contains(feed.name) && machines[feed.name]?.inForce != feed {
      throw Failure(.failed, "the feed \(feed.name) is not heard yet; see: pinna feed list")
    }
    return chosen
  }

  /// The feed as a take that begins now records it: as the callback plays it, or fades to it. Nil if it is not heard.
  private func heardFeed(_ name: String) -> FeedSetting? {
    (try? machines[name]?.coming?.feed(named: name)) ?? machines[name]?.inForce
  }

  /// Ends the take. Answers when it is on disk.
  package func stopTake(_ request: Request) throws {
    switch state {
    case .openingTake(var recording):
      recording.stopRequests.append(request)
      close(recording, isCutOff: true)
      enter(.live)
    case .startingTake(var recording, _), .armed(var recording), .recording(var recording):
      recording.stopRequests.append(request)
      enter(.endingTake(recording, try clientInGraph().endTake()))
    case .endingTake(var recording, let ticket):
      recording.stopRequests.append(request)
      updateState(.endingTake(recording, ticket))
    case .stopping(var stopping) where stopping.take != nil:
      stopping.take?.stopRequests.append(request)
      updateState(.stopping(stopping))
    default: try answerForLastTake(request)
    }
  }

  /// Answers `record stop` for the latest take if it ended without a request, or ends because Pinna stops.
  private func answerForLastTake(_ request: Request) throws {
    if let last = takes.closing.firstIndex(where: {
      !$0.isDiscarded && $0.number == takes.begun && ($0.cause != nil || isStopping)
    }) {
      takes.closing[last].stopRequests.append(request)
    } else if let last = takes.last, last.cause != nil {
      request.answer(last.outcome)
    } else if isStopping {
      throw Failure(.notRunning, "Pinna is being stopped already")
    } else {
      throw Failure(.failed, "nothing is being recorded; start with: pinna record start")
    }
  }

  func pollTake() {
    switch state {
    case .openingTake(let recording):
      switch recording.take.phase {
      case .opening where isLate:
        close(
          recording, isCutOff: true,
          Failure(
            .failed, "the disk has not answered for 5 s: no take was started; choose another with --dir"))
        enter(.live)
      case .opening: break
      case .open(let ring): start(recording, ring)
      case .failed(let error):
        enter(.live)
        recording.startRequest?.fail(.failed, error.description)
      case .finished:
        enter(.live)
        recording.startRequest?.fail(.failed, "the take ended before its first frame; start another")
      }
    case .startingTake(let recording, _) where isLate:
      // Queued behind the request to begin: if periods resume, the take ends in the period in which it begins.
      _ = client?.endTake()
      close(
        recording, isCutOff: true,
        Failure(.failed, Self.stalled + "; no take was started, try again when they do"))
      enter(.live)
    case .endingTake(let recording, _) where isLate:
      close(recording, isCutOff: true, cause: recording.endCause)
      enter(.live)
    default: break
    }
  }

  /// Ends a take that has the length that was asked for. The disk thread leaves out what the callback records beyond
  /// it.
  func endTakeThatIsOver() {
    guard case .recording(var recording) = state, recording.take.isOver, let client else { return }
    recording.endCause = .length
    // Before its end: the disk thread may then have closed the files.
    recording.take.note("the take ended because \(EndCause.length.text)")
    enter(.endingTake(recording, client.endTake()))
  }

  private func start(_ recording: Recording, _ ring: TakeRing) {
    var recording = recording
    do {
      // Its fade ends before the take's first frame: both requests go through the same queue.
      if wanted.listening != nil { try post(wanted.withoutListening, Request { _ in }) }
      let ticket = try clientInGraph().beginTake(into: ring, followingTransport: recording.followsTransport)
      recording.beginTicket = ticket
      enter(.startingTake(recording, ticket))
    } catch {
      close(recording, isCutOff: true, Failure(error))
      enter(.live)
    }
  }

  /// Handles the callback's report that a take waits for the transport.
  /// - Parameter ticket: ticket of the request to begin it.
  func takeArmed(_ ticket: Ticket) {
    guard case .startingTake(var recording, ticket) = state else { return }
    let startRequest = recording.startRequest
    recording.startRequest = nil
    enter(.armed(recording))
    startRequest?.answer(.done(startAnswer(recording)))
    notify(.takeArmed, "armed: \(recording.take.path ?? "a take") begins when the transport rolls")
  }

  /// Handles the callback's report that a take has ended with the transport. A requested end is reported as well.
  /// - Parameter ticket: ticket of the request to begin it.
  func transportStopped(_ ticket: Ticket) {
    guard case .recording(let recording) = state, recording.beginTicket == ticket else { return }
    close(recording, isCutOff: false, cause: .transport)
    enter(.live)
  }

  private func startAnswer(_ recording: Recording) -> TakeStartAnswer {
    let (take, microphones) = (recording.take, client?.readings.microphones ?? [])
    let path = take.path ?? ""
    let obstacle = take.plan.conversionObstacle.map { "it stays WAV: \($0)" }
    var answer = TakeStartAnswer()
    answer.take = path
    answer.armed = recording.hasBegun ? nil : true
    answer.channels = take.plan.outputs
    let recorded = take.plan.feedNames
    let omitted = wanted.feeds.map(\.name).filter { !recorded.contains($0) }
    (answer.feeds, answer.unrecordedFeeds) = (recorded, omitted)
    answer.raw = take.plan.options.raw
    answer.convertedTake = take.plan.convertedFormat.map { path.replacing(/wav$/, with: $0) }
    let raw = take.plan.microphonesObstacle.map { "the microphones stay WAV: \($0)" }
    answer.notes = omitted.filter { heardFeed($0) == nil }.map {
      "the feed \($0) is not heard yet; see: pinna feed list"
    }
    answer.notes += [take.plan.shortRingNote, obstacle, raw].compactMap { $0 }
    answer.length = take.plan.options.length
    answer.muted = inForce.main.muted
    // Before the first graph check, connections are unknown.
    answer.unconnected =
      graph.checkNumber == 0 ? [] : microphones.filter { graph.connections[$0] == nil }
    answer.microphoneCount = microphones.count
    let missing = StatusFields.FallbackReport(fallback, microphones: microphones)?.missing ?? []
    answer.missing = missing.filter { $0.fault != .unconnected }
    answer.secondsLeft = take.secondsLeft
    return answer
  }

  /// Handles the callback's report that a take has begun.
  /// - Parameters:
  ///   - ticket: ticket of the request to begin it.
  ///   - frame: the engine's first frame in it, after the pre-roll.
  func takeBegan(_ ticket: Ticket, frame: Int) {
    guard var recording = state.take ?? takeAtStop, recording.beginTicket == ticket, !recording.hasBegun
    else {
      return
    }
    let startRequest = recording.startRequest
    recording.startRequest = nil
    recording.hasBegun = true
    recording.number = takes.begin()
    switch state {
    case .startingTake, .armed: enter(.recording(recording))
    case .endingTake(_, let end): updateState(.endingTake(recording, end))
    case .stopping(var stopping):
      stopping.take = recording
      updateState(.stopping(stopping))
    default: break
    }
    noteFallback(in: recording.take, from: frame)
    noteTurns(in: recording.take, from: frame)
    tracking.listStart = frame - recording.take.preRollFrames
    client?.listTalkers(from: tracking.listStart)
    let answer = startAnswer(recording)
    if let note = Self.unconnectedNote(answer.unconnected, of: answer.microphoneCount) {
      recording.take.addNote(note)
    }
    for feed in answer.unrecordedFeeds ?? [] where heardFeed(feed) == nil {
      recording.take.addNote("the feed \(feed) was not heard yet, and is not recorded")
    }
    startRequest?.answer(.done(answer))
    notify(.takeBegan, "recording \(recording.take.path ?? "a take")")
  }

  /// The sidecar's note about microphones that were not connected.
  private static func unconnectedNote(_ unconnected: [String], of count: Int) -> String? {
    guard !unconnected.isEmpty else { return nil }
    guard unconnected.count < count else { return "no microphone was connected when the take began" }
    let verb = unconnected.count == 1 ? "was" : "were"
    return "\(unconnected.count) of \(count) microphones \(verb) not connected when the take began: "
      + unconnected.joined(separator: ", ")
  }

  /// Handles the callback's report that a take has ended.
  /// - Parameter ticket: ticket of the request to end it.
  func takeEnded(_ ticket: Ticket) {
    switch state {
    case .stopping(let stopping) where stopping.ticket == ticket: closeTakeAtStop(isCutOff: false)
    case .endingTake(let recording, ticket):
      close(recording, isCutOff: false, cause: recording.endCause)
      enter(.live)
    default: break
    }
  }

  /// Hands a take to the disk thread, which writes the remaining frames. A take that never began is discarded and
  /// leaves no file.
  /// - Parameters:
  ///   - isCutOff: whether the callback has not ended it: the take then ends with the frames in its ring.
  ///   - failure: of the start request, if the take never began.
  ///   - cause: why it ends without a request.
  func close(
    _ recording: Recording, isCutOff: Bool,
    _ failure: Failure = Failure(.failed, "the take was stopped before its first frame; start another"),
    cause: EndCause? = nil
  ) {
    if recording.hasBegun {
      listTalkers(in: recording.take)
      client?.listTalkers(from: nil)
      let cause = recording.stopRequests.isEmpty ? cause : nil
      // The other causes are noted already.
      if let cause, case .fault = cause { recording.take.note("the take ended because \(cause.text)") }
      if isCutOff { recording.take.abandon() }
      takes.closing.append(
        ClosingTake(
          take: recording.take, number: recording.number, cause: cause,
          microphonesWithoutSource: microphonesWithoutSource,
          stopRequests: recording.stopRequests))
      return
    }
    recording.take.discard()
    if case .opening = recording.take.phase { takes.hanging.append(recording.take) }
    recording.startRequest?.fail(failure)
    guard recording.followsTransport else {
      for request in recording.stopRequests {
        request.fail(.failed, "the take was stopped before its first frame: nothing was recorded")
      }
      return
    }
    // Answered when its files are gone.
    takes.closing.append(
      ClosingTake(
        take: recording.take, isDiscarded: true, number: 0, cause: cause, microphonesWithoutSource: [],
        stopRequests: recording.stopRequests))
    guard recording.startRequest == nil else { return }
    let path = recording.take.path ?? "the take"
    let end = "\(path) is no longer armed, and nothing was recorded"
    if let cause { warn("\(end), because \(cause.text)") }
    notify(.takeDisarmed, end)
  }

  private var microphonesWithoutSource: [String] {
    (client?.readings.microphones ?? []).filter {
      takes.portsAwaitingPeers.contains($0) && graph.connections[$0] == nil
    }
  }

  /// Throws while too many abandoned disk requests are unanswered: each holds a thread until the disk answers.
  func refuseWhileDiskHangs() throws(Failure) {
    takes.hanging.removeAll { !$0.isOpening }
    guard takes.hanging.count >= Takes.maxHanging else { return }
    throw Failure(
      .failed, "the disk has not answered \(takes.hanging.count) earlier requests; try again when it does")
  }

  /// Answers stop requests for takes that are on disk, or that the disk has not accepted for 10 s.
  func pollClosing() {
    for n in takes.closing.indices.reversed() {
      let (take, isDiscarded) = (takes.closing[n].take, takes.closing[n].isDiscarded)
      switch take.phase {
      case .finished where isDiscarded, .failed where isDiscarded:
        let answer = DisarmAnswer(disarmed: take.path ?? "the take")
        for request in takes.closing.remove(at: n).stopRequests { request.answer(.done(answer)) }
      case .finished(let result):
        finished(result, takes.closing.remove(at: n))
      case .failed(let error):
        for request in takes.closing.remove(at: n).stopRequests { request.fail(.failed, error.description) }
      case .opening, .open:
        let silent = take.unansweredFor
        guard silent > .seconds(10) else { break }
        let stopRequests = takes.closing[n].stopRequests
        takes.closing[n].stopRequests = []
        for request in stopRequests {
          request.fail(
            isDiscarded ? .failed : .incompleteTake,
            isDiscarded
              ? Self.sentence(ofDiscarded: take)
              : "the take \(take.path ?? "") is not on disk yet: the disk has not answered for \(silent.components.seconds) s; "
                + "writing continues when the disk answers, see: pinna status")
        }
      }
    }
  }

  private func finished(_ result: TakeWriter.Result, _ closed: ClosingTake) {
    let ended = EndedTake(
      result: result, cause: closed.cause, microphonesWithoutSource: closed.microphonesWithoutSource)
    if closed.number == takes.begun { takes.last = ended }
    if takes.incomplete == nil, result.fault != nil { takes.incomplete = result }
    for request in closed.stopRequests { request.answer(ended.outcome) }
    if case .stopping = state {
      takes.endedAtStop.append(ended)
      if result.fault != nil { takes.faultsAtStop.append(result.sentence) }
    }
    // Warns the operator if nobody asked for the end, something else caused it, or Pinna is stopping.
    if closed.stopRequests.isEmpty || closed.cause != nil || state.kind == .stopping { warn(result.sentence) }
    notify(
      .takeEnded, "the take \(result.path) has ended" + (closed.cause.map { ", because \($0.text)" } ?? ""))
  }
}
