import Glibc
import Messages
import Recording
import Settings

/// Shutdown.
extension Processor {
  /// Stops the processor and finalises takes. Answers when every take is on disk; if the disk does not respond, within
  /// 3 s.
  package func stop(_ request: Request?) {
    if state.kind == .stopping || state.kind == .stopped {
      request?.fail(.notRunning, "Pinna is being stopped already")
      return
    }
    var stopping = Stopping(since: world.now, request: request)
    switch state {
    case .openingTake(let recording): close(recording, isCutOff: true, Self.stopped)
    case .startingTake(let recording, _), .armed(let recording), .recording(let recording):
      stopping.take = recording
      stopping.ticket = client?.endTake()
    case .endingTake(let recording, let ticket):
      stopping.take = recording
      stopping.ticket = ticket
    default: break
    }
    endAllButTake(of: state, Self.stopped)
    enter(.stopping(stopping))
    pollStop()
  }

  private static let stopped = Failure(.failed, "Pinna was stopped before this was done")

  /// Waits 1 s for the callback and 2 s for conversions, and then for as long as the disk still makes progress.
  func pollStop() {
    guard case .stopping(let stopping) = state else { return }
    let hasWaited = hasPassed(stopping.since + .seconds(1))
    if hasWaited { closeTakeAtStop(isCutOff: true) }
    pollClosing()
    guard hasWaited || stopping.take == nil else { return }
    if hasPassed(stopping.since + .seconds(2)) { for each in takes.closing { each.take.abandon() } }
    let isHung =
      hasPassed(stopping.since + .milliseconds(2500))
      && takes.closing.allSatisfy { $0.take.unansweredFor > .seconds(1) }
    guard takes.closing.isEmpty || isHung || isLate else { return }
    for each in takes.closing where each.isDiscarded {
      let sentence = Self.sentence(ofDiscarded: each.take)
      for request in each.stopRequests { request.fail(.failed, sentence) }
      warn(sentence)
    }
    for each in takes.closing where !each.isDiscarded {
      let sentence = Self.sentence(of: each.take)
      for request in each.stopRequests { request.fail(.incompleteTake, sentence) }
      warn(sentence)
      takes.faultsAtStop.append(sentence)
    }
    takes.closing = []
    enter(.stopped)
    if takes.faultsAtStop.isEmpty {
      stopping.request?.answer(
        .done(StopAnswer(takes: takes.endedAtStop.map { TakeAnswer($0.result, notes: []) })))
    } else {
      stopping.request?.fail(.incompleteTake, takes.faultsAtStop.joined(separator: "; "))
    }
  }

  /// Hands the take that was running at `stop` to the disk thread.
  /// - Parameter isCutOff: whether the callback has not ended it in time.
  func closeTakeAtStop(isCutOff: Bool) {
    guard case .stopping(var stopping) = state, let recording = stopping.take else { return }
    close(recording, isCutOff: isCutOff, Self.stopped)
    stopping.take = nil
    stopping.ticket = nil
    updateState(.stopping(stopping))
  }

  var takeAtStop: Recording? { if case .stopping(let stopping) = state { stopping.take } else { nil } }

  /// The warning about an armed take whose files the disk does not remove.
  static func sentence(ofDiscarded take: any TakeRecording) -> String {
    "the take \(take.path ?? "") is no longer armed, but its empty files are not removed yet: the disk has not answered for "
      + "\(take.unansweredFor.components.seconds) s"
  }

  /// The warning about a take that the disk does not finish.
  private static func sentence(of take: any TakeRecording) -> String {
    "the take \(take.path ?? "") is incomplete: the disk has not answered for \(take.unansweredFor.components.seconds) s, "
      + "and \(take.frames) frames are written; finish it with: pinna takes repair"
  }

  /// Why the server was lost, if the processor will not reconnect; otherwise nil.
  package var permanentLossReason: String? {
    switch state.kind {
    case .stranded: reconnection?.reason ?? reconnection?.obstacle
    case .absent, .opening, .joining, .preparing, .unusable, .leaving:
      reconnects || reconnection?.isRejoining == true ? nil : reconnection?.reason
    default: nil
    }
  }

  /// Leaves the graph. Blocks for 2 s at most. With `NSMClient.leave` (1 s), the only waits of this thread, both at its
  /// end.
  package func closeClient() {
    guard let client else { return }
    let job = client.close()
    let end = ContinuousClock.now + .seconds(2)
    while job.result == nil, ContinuousClock.now < end { usleep(500) }
  }
}

/// Whether the takes of a run are complete. The operator has already been told of takes that ended without a request or
/// with the run.
public struct TakeOutcome: Sendable, Hashable {
  public let areComplete: Bool
  /// Path of an incomplete take that ended earlier, if every take that ended with the run is complete.
  public let earlierIncomplete: String?
}
