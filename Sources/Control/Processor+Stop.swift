import Foundation
import Recording

/// The end of the processor.
extension Processor {
  /// Ends everything; takes are finalised. The answer comes when nothing is left to write, or when the disk does not
  /// take it: within three seconds then.
  package func stop(_ request: Request?) {
    let sentence = "Pinna was stopped before this was done"
    if state.kind == .stopping || state.kind == .stopped {
      request?.fail(.notRunning, "Pinna is being stopped already")
      return
    }
    var stopping = Stopping(since: world.now, request: request)
    drop(change, .failed, sentence)
    change = nil
    switch state {
    case .openingTake(let recording): close(recording, isCutOff: true, .failed, sentence)
    case .startingTake(let recording, _), .recording(let recording):
      stopping.take = recording
      stopping.ticket = client?.endTake()
    case .endingTake(let recording, let ticket):
      stopping.take = recording
      stopping.ticket = ticket
    case .openingPlayback(let player, let starter): giveUp(player, starter, .failed, sentence)
    case .playing(let playing), .endingPlayback(let playing): finish(playing)
    case .fadingOut(let change, _, _, _): for each in change.requests { each.fail(.failed, sentence) }
    case .opening(let job): job.abandon { _ = $0.close() }
    case .joining(_, let job): job.abandon()
    case .preparing(_, _, let job): abandon(job)
    default: break
    }
    answerPending(.failed, sentence)
    failPeriodRequests(.failed, sentence)
    enter(.stopping(stopping))
    pollStop()
  }

  /// A second for the callback, two for conversions, then as long as the disk takes anything at all.
  func pollStop() {
    guard case .stopping(let stopping) = state else { return }
    let hasWaited = isOver(stopping.since + .seconds(1))
    if hasWaited { closeTakeAtStop(isCutOff: true) }
    pollClosing()
    guard hasWaited || stopping.take == nil else { return }
    if isOver(stopping.since + .seconds(2)) { for each in closing { each.take.abandon() } }
    let isHung =
      isOver(stopping.since + .milliseconds(2500))
      && closing.allSatisfy { $0.take.unansweredFor > .seconds(1) }
    guard closing.isEmpty || isHung || isLate else { return }
    for each in closing {
      let sentence = Self.sentence(of: each.take)
      for stopper in each.stoppers { stopper.fail(.incompleteTake, sentence) }
      warn(sentence)
      faultsAtStop.append(sentence)
    }
    closing = []
    enter(.stopped)
    if faultsAtStop.isEmpty {
      stopping.request?.answer(.done(StopAnswer(takes: endedAtStop.map { TakeAnswer($0.result, notes: []) })))
    } else {
      stopping.request?.fail(.incompleteTake, faultsAtStop.joined(separator: "; "))
    }
  }

  /// The take that was running when the stop came: from here on the disk thread ends it.
  /// - Parameter isCutOff: the callback has not ended it and is not waited for.
  func closeTakeAtStop(isCutOff: Bool) {
    guard case .stopping(var stopping) = state, let recording = stopping.take else { return }
    close(recording, isCutOff: isCutOff, .failed, "Pinna was stopped before this was done")
    stopping.take = nil
    stopping.ticket = nil
    hold(.stopping(stopping))
  }

  var takeAtStop: Recording? { if case .stopping(let stopping) = state { stopping.take } else { nil } }

  /// Of a take that the disk does not take to its end.
  private static func sentence(of take: any TakeRecording) -> String {
    "the take \(take.path ?? "") is incomplete: the disk has not answered for \(take.unansweredFor.components.seconds) s, "
      + "and has \(take.frames) frames of it; finish it with: pinna takes repair"
  }

  /// Why there is no way back into a graph; nil while there is one.
  package var lossForGood: String? {
    switch state.kind {
    case .stranded: rejoin?.reason
    case .absent, .opening, .joining, .preparing, .unusable, .leaving: reconnects ? nil : rejoin?.reason
    default: nil
    }
  }

  /// What became of the takes of this run.
  package var takeOutcome: TakeOutcome {
    TakeOutcome(
      areComplete: incompleteTake == nil && faultsAtStop.isEmpty,
      earlierIncomplete: faultsAtStop.isEmpty ? incompleteTake?.path : nil)
  }

  /// Leaves the graph, in two seconds at most.
  func closeClient() {
    guard let client else { return }
    let job = client.close()
    let end = ContinuousClock.now + .seconds(2)
    while job.result == nil, ContinuousClock.now < end { usleep(500) }
  }
}
