import Acoustics
import FilterDesign
import Foundation
import Realtime
import Recording

/// Takes: begun and ended through the same queue as every change.
extension Processor {
  package func startTake(_ takeRequest: TakeRequest, _ request: Request) throws {
    try refuseOutsideGraph()
    try refuseDuringTake()
    try refuseDuringFadeOut()
    try refuseDuringPlayback()
    guard let client else { return }
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
    let unbegun = "the take was stopped before its first frame; start another"
    switch state {
    case .openingTake(let recording):
      recording.take.discard()
      enter(.live)
      recording.starter?.fail(.failed, unbegun)
      request.fail(.failed, "the take was stopped before its first frame: nothing was recorded")
    case .startingTake(var recording, _), .recording(var recording):
      guard let client else { return }
      recording.stopper = request
      enter(.endingTake(recording, client.endTake()))
    default: throw Failure(.failed, "nothing is being recorded; start with: pinna record start")
    }
  }

  func pollTake() {
    switch state {
    case .openingTake(let recording):
      switch recording.take.phase {
      case .opening where isLate:
        recording.take.discard()
        enter(.live)
        recording.starter?.fail(
          .failed, "the disk has not answered for 5 s: no take was started; choose another with --dir")
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
      recording.take.discard()
      enter(.live)
      recording.starter?.fail(.failed, Self.stalled + "; no take was started, try again when it does")
    case .endingTake(let recording, _) where isLate:
      // What is in the ring is the take.
      recording.take.abandon()
      close(recording)
    default: break
    }
  }

  private func start(_ recording: Recording, _ ring: TakeRing) {
    guard let client else { return }
    do {
      enter(.startingTake(recording, try client.beginTake(into: ring)))
    } catch {
      recording.take.discard()
      enter(.live)
      recording.starter?.answer(.failed(Failure(error)))
    }
  }

  func takeBegan(_ ticket: Ticket) {
    guard case .startingTake(var recording, ticket) = state else {
      // Its end is asked for already; whoever started it hears that it began.
      if case .endingTake(var recording, let end) = state, let starter = recording.starter {
        recording.starter = nil
        starter.answer(.done(TakeAnswer(recording.take, muted: inForce.muted)))
        hold(.endingTake(recording, end))
      }
      return
    }
    let starter = recording.starter
    recording.starter = nil
    enter(.recording(recording))
    starter?.answer(.done(TakeAnswer(recording.take, muted: inForce.muted)))
    notify(EngineEvent(.takeBegan, "recording \(recording.take.path ?? "a take")"))
  }

  /// - Parameter ticket: of the request to end it.
  func takeEnded(_ ticket: Ticket) {
    if case .stopping(let stopping) = state, stopping.ticket == ticket {
      return closeTakeAtStop(isCutOff: false)
    }
    guard case .endingTake(let recording, ticket) = state else { return }
    close(recording)
  }

  /// The callback has ended it: the disk thread writes what is left, and everything else may go on. One that never began
  /// leaves no file.
  func close(_ recording: Recording) {
    if let starter = recording.starter {
      recording.take.discard()
      starter.fail(.failed, "the take was stopped before its first frame; start another")
      recording.stopper?.fail(
        .failed, "the take was stopped before its first frame: nothing was recorded")
    } else {
      closing.append(ClosingTake(take: recording.take, stopper: recording.stopper))
    }
    enter(.live)
  }

  /// Answers for takes that are on disk, or that the disk does not take.
  func pollClosing() {
    for n in closing.indices.reversed() {
      let take = closing[n].take
      switch take.phase {
      case .finished(let result):
        let stopper = closing.remove(at: n).stopper
        finished(result, stopper)
      case .failed(let error):
        closing.remove(at: n).stopper?.fail(.failed, error.description)
      case .opening, .open:
        let silent = take.unansweredFor
        guard silent > .seconds(10), let stopper = closing[n].stopper else { break }
        closing[n].stopper = nil
        stopper.fail(
          .incompleteTake,
          "the take \(take.path ?? "") is not on disk yet: the disk has not answered for \(silent.components.seconds) s; "
            + "it goes on when the disk does, see: pinna status")
      }
    }
  }

  private func finished(_ result: TakeWriter.Result, _ stopper: Request?) {
    lastTake = result
    if incompleteTake == nil, result.fault != nil { incompleteTake = result }
    if let fault = result.fault {
      stopper?.fail(.incompleteTake, "the take \(result.path) is incomplete: \(fault)")
    } else {
      stopper?.answer(.done(TakeAnswer(result)))
    }
    if case .stopping = state, result.fault != nil { faultsAtStop.append(result.sentence) }
    if stopper == nil, state.kind != .stopping { warn(result.sentence) }
    notify(EngineEvent(.takeEnded, "the take \(result.path) has ended"))
  }
}
