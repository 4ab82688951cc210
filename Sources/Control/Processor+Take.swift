import Acoustics
import Foundation
import Realtime
import Recording

/// Takes: begun and ended through the same queue as every change.
extension Processor {
  package func startTake(_ takeRequest: TakeRequest, _ request: Request) throws {
    let client = try clientInGraph()
    try refuseDuringTake()
    try refuseDuringFadeOut()
    try refuseDuringPlayback()
    try refuseWhileDiskHangs()
    guard closing.count < Self.mostClosing else {
      throw Failure(
        .failed,
        "\(closing.count) takes are still being written; wait until the disk has taken them, see: pinna status"
      )
    }
    let take = world.openTake(takeRequest, wanted, on: client)
    enter(.openingTake(Recording(take: take, starter: request)))
  }

  package func stopTake(_ request: Request) throws {
    switch state {
    case .openingTake(var recording):
      recording.stoppers.append(request)
      close(recording, isCutOff: true)
      enter(.live)
    case .startingTake(var recording, _), .recording(var recording):
      recording.stoppers.append(request)
      enter(.endingTake(recording, try clientInGraph().endTake()))
    case .endingTake(var recording, let ticket):
      recording.stoppers.append(request)
      hold(.endingTake(recording, ticket))
    default: try tellOfLastTake(request)
    }
  }

  /// Answers whoever wants to end a take that ended without anybody asking for it, until another begins.
  private func tellOfLastTake(_ request: Request) throws {
    if let last = closing.firstIndex(where: { $0.number == takesBegun && $0.cause != nil }) {
      closing[last].stoppers.append(request)
    } else if let lastTake, lastTake.cause != nil {
      request.answer(lastTake.outcome)
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
          recording, isCutOff: true, .failed,
          "the disk has not answered for 5 s: no take was started; choose another with --dir")
        enter(.live)
      case .opening: break
      case .open(let ring): start(recording, ring)
      case .failed(let error):
        enter(.live)
        recording.starter?.fail(.failed, error.description)
      case .finished:
        enter(.live)
        recording.starter?.fail(.failed, "the take ended before its first frame; start another")
      }
    case .startingTake(let recording, _) where isLate:
      // Behind its beginning in the queue: it ends in the period in which it begins.
      _ = client?.endTake()
      close(
        recording, isCutOff: true, .failed, Self.stalled + "; no take was started, try again when it does")
      enter(.live)
    case .endingTake(let recording, _) where isLate:
      close(recording, isCutOff: true)
      enter(.live)
    default: break
    }
  }

  private func start(_ recording: Recording, _ ring: TakeRing) {
    var recording = recording
    do {
      let ticket = try clientInGraph().beginTake(into: ring)
      recording.beginning = ticket
      enter(.startingTake(recording, ticket))
    } catch {
      let failure = Failure(error)
      close(recording, isCutOff: true, failure.status, failure.description)
      enter(.live)
    }
  }

  /// - Parameter ticket: of the request to begin it.
  func takeBegan(_ ticket: Ticket) {
    guard var recording = state.take ?? takeAtStop, recording.beginning == ticket, !recording.hasBegun else {
      return
    }
    let starter = recording.starter
    recording.starter = nil
    recording.hasBegun = true
    takesBegun += 1
    recording.number = takesBegun
    lastTake = nil
    bereftPorts = []
    switch state {
    case .startingTake: enter(.recording(recording))
    case .endingTake(_, let end): hold(.endingTake(recording, end))
    case .stopping(var stopping):
      stopping.take = recording
      hold(.stopping(stopping))
    default: break
    }
    let microphones = client?.readings.microphones ?? []
    // Before the first look at the graph nothing is known.
    let unconnected = graph.look == 0 ? [] : microphones.filter { graph.connections[$0] == nil }
    if let note = Self.note(unconnected, of: microphones.count) { recording.take.addNote(note) }
    starter?.answer(
      .done(
        TakeStartAnswer(
          recording.take, muted: inForce.muted, unconnected: unconnected, microphoneCount: microphones.count))
    )
    notify(EngineEvent(.takeBegan, "recording \(recording.take.path ?? "a take")"))
  }

  private static func note(_ unconnected: [String], of count: Int) -> String? {
    guard !unconnected.isEmpty else { return nil }
    guard unconnected.count < count else { return "no microphone was connected when the take began" }
    let verb = unconnected.count == 1 ? "was" : "were"
    return "\(unconnected.count) of \(count) microphones \(verb) not connected when the take began: "
      + unconnected.joined(separator: ", ")
  }

  /// - Parameter ticket: of the request to end it.
  func takeEnded(_ ticket: Ticket) {
    switch state {
    case .stopping(let stopping) where stopping.ticket == ticket: closeTakeAtStop(isCutOff: false)
    case .endingTake(let recording, ticket):
      close(recording, isCutOff: false)
      enter(.live)
    default: break
    }
  }

  /// The end of a take for everything but the disk thread, which writes what is left. One that the callback never began
  /// leaves no file.
  /// - Parameters:
  ///   - isCutOff: the callback has not ended it and is not waited for: the take is what is in the ring.
  ///   - reason: for whoever started one that never began.
  ///   - cause: what ends it though nobody may have asked for its end.
  func close(
    _ recording: Recording, isCutOff: Bool, _ status: ExitStatus = .failed,
    _ reason: String = "the take was stopped before its first frame; start another", cause: String? = nil
  ) {
    if recording.hasBegun {
      let cause = recording.stoppers.isEmpty ? cause : nil
      if let cause { recording.take.note("the take ended because \(cause)") }
      if isCutOff { recording.take.abandon() }
      closing.append(
        ClosingTake(
          take: recording.take, number: recording.number, cause: cause, bereft: bereftMicrophones,
          stoppers: recording.stoppers))
      return
    }
    recording.take.discard()
    if case .opening = recording.take.phase { hanging.append(recording.take) }
    recording.starter?.fail(status, reason)
    for stopper in recording.stoppers {
      stopper.fail(.failed, "the take was stopped before its first frame: nothing was recorded")
    }
  }

  private var bereftMicrophones: [String] {
    (client?.readings.microphones ?? []).filter {
      bereftPorts.contains($0) && graph.connections[$0] == nil
    }
  }

  /// Requests to the disk that were given up before it answered: each keeps a thread until it does.
  func refuseWhileDiskHangs() throws(Failure) {
    hanging.removeAll { !$0.isOpening }
    guard hanging.count >= Self.mostHanging else { return }
    throw Failure(
      .failed, "the disk has not answered \(hanging.count) earlier requests; try again when it does")
  }

  /// Answers for takes that are on disk, or that the disk does not take.
  func pollClosing() {
    for n in closing.indices.reversed() {
      let take = closing[n].take
      switch take.phase {
      case .finished(let result):
        finished(result, closing.remove(at: n))
      case .failed(let error):
        for stopper in closing.remove(at: n).stoppers { stopper.fail(.failed, error.description) }
      case .opening, .open:
        let silent = take.unansweredFor
        guard silent > .seconds(10) else { break }
        let stoppers = closing[n].stoppers
        closing[n].stoppers = []
        for stopper in stoppers {
          stopper.fail(
            .incompleteTake,
            "the take \(take.path ?? "") is not on disk yet: the disk has not answered for \(silent.components.seconds) s; "
              + "it goes on when the disk does, see: pinna status")
        }
      }
    }
  }

  private func finished(_ result: TakeWriter.Result, _ closed: ClosingTake) {
    let ended = EndedTake(result: result, cause: closed.cause, bereft: closed.bereft)
    if closed.number == takesBegun { lastTake = ended }
    if incompleteTake == nil, result.fault != nil { incompleteTake = result }
    for stopper in closed.stoppers { stopper.answer(ended.outcome) }
    if case .stopping = state {
      endedAtStop.append(ended)
      if result.fault != nil { faultsAtStop.append(result.sentence) }
    }
    // Whoever runs Pinna hears of what nobody asked to end, or ends with Pinna.
    if closed.stoppers.isEmpty || closed.cause != nil || state.kind == .stopping { warn(result.sentence) }
    notify(
      EngineEvent(
        .takeEnded, "the take \(result.path) has ended" + (closed.cause.map { ", because \($0)" } ?? "")))
  }
}
