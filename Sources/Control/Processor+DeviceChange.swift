import Acoustics
import Foundation
import JackClient
import Presets
import Recording

/// Another device: its filters are designed and its ports registered in the background, then the outputs fade out, then
/// its engine takes over and fades in.
extension Processor {
  /// A newer change of device takes an older one's place.
  func begin(changeTo setting: Setting, _ request: Request) {
    let displaced = change?.promised ?? change?.displaced
    drop(change, .failed, "a newer change of device took the place of this one; see: pinna status")
    change = nil
    // Back to the device in use: nothing has to be brought.
    if setting.device == wanted.device {
      do { try post(setting, request) } catch { request.answer(.failed(Failure(error))) }
      return
    }
    let job = world.design(setting.device, sampleRate: client?.sampleRate ?? 0)
    change = DeviceChange(
      setting: setting, requests: [request], displaced: displaced, phase: .designing(job), began: world.now)
    pollChange()
  }

  /// After a change that failed: the one whose place it took had been promised, and comes after all.
  private func resumeDisplaced(by failed: DeviceChange) {
    guard change == nil, let promise = failed.displaced else { return }
    change = DeviceChange(
      setting: promise.setting, requests: [], promised: promise, phase: .designed(promise.filters),
      began: world.now)
    warn("\(promise.setting.device.name) comes after all: the change that took its place failed")
  }

  /// Gives up a device that is not in use yet.
  package func cancelChange(_ request: Request) throws {
    guard let pending = change else { throw Failure(.failed, "no device is on its way; see: pinna status") }
    change = nil
    drop(pending, .failed, "the change to \(pending.setting.device.name) was cancelled")
    request.answer(.done(CancelAnswer(cancelled: pending.setting.device.name)))
  }

  /// What has been made for it goes, and everyone who asked for it is told.
  func drop(_ change: DeviceChange?, _ status: ExitStatus, _ sentence: String) {
    guard let change else { return }
    switch change.phase {
    case .designing(let job): job.abandon()
    case .designed: break
    case .preparing(_, let job, _): abandon(job)
    case .prepared(_, let engine, _): client?.discard(engine)
    }
    end(change, .failed(Failure(status, sentence)))
  }

  /// Its ports go when they have been registered after all. A client that is gone by then took them along; held here, it
  /// would live as long as a job that never ends.
  func abandon(_ job: Job<any PreparedEngine>) {
    job.abandon { [weak client] in client?.discard($0) }
  }

  private func end(_ change: DeviceChange, _ outcome: Outcome) {
    if case .failed(let failure) = outcome {
      notify(EngineEvent(.inputChangeFailed, failure.description))
      if change.requests.isEmpty { warn(failure.description) }
    }
    for request in change.requests { request.answer(outcome) }
  }

  /// Goes on where a job has ended; gives up what takes too long, and what nobody waits for any more.
  func pollChange() {
    guard let current = change else { return }
    let name = current.setting.device.name
    func fail(_ status: ExitStatus, _ sentence: String) {
      change = nil
      drop(current, status, sentence)
      resumeDisplaced(by: current)
    }
    if !current.isPromised, !current.requests.contains(where: \.isAskerThere) {
      return fail(.failed, "nobody waits for the change to \(name) any more: it was given up")
    }
    switch current.phase {
    case .designing(let job):
      switch job.result {
      case .success(let filters):
        change?.phase = .designed(filters)
        pollChange()
      case .failure(let failure): return fail(failure.status, failure.description)
      case nil:
        if isOver(current.began + .seconds(600)) {
          return fail(.failed, "the design of \(name) took longer than 10 minutes and was given up")
        }
        // Filters that are only read report none.
        if let part = job.progress { tellProgress("designing filters for \(name)", part: part) }
      }
    case .designed(let filters):
      guard let client = clientForChange(name, filters) else { return }
      do { try filters.check(current.setting.selection, of: current.setting.device) } catch {
        let failure = Failure(error)
        return fail(failure.status, failure.description)
      }
      change?.phase = .preparing(
        filters, client.prepare(filters, for: current.setting.device), deadline: world.now + .seconds(5))
    case .preparing(let filters, let job, let deadline):
      switch job.result {
      case .success(let engine):
        change?.phase = .prepared(filters, engine, deadline: world.now + .seconds(3))
        pollChange()
      case .failure(let failure):
        return fail(failure.status, "the device could not be changed: \(failure.description)")
      case nil:
        if isOver(deadline) { fail(.failed, "the JACK server does not answer; try again when it does") }
      }
    case .prepared(let filters, let engine, let deadline):
      guard let client = clientForChange(name, filters) else {
        change?.phase = .prepared(filters, engine, deadline: world.now + .seconds(3))
        return
      }
      // Changes before it have ended by then, each with an answer of its own.
      if pending.isEmpty, let ticket = try? client.fadeOut(from: wanted) {
        change = nil
        enter(.fadingOut(current, engine, filters, ticket))
      } else if isOver(deadline) {
        fail(.failed, Self.stalled + "; the device stays, try again when it does")
      }
    }
  }

  /// The client, where another device may take over; nil while something is recorded: whoever asked hears that the device
  /// comes after the take. A playback ends for it.
  private func clientForChange(_ name: String, _ filters: any DeviceFilters) -> (any AudioClient)? {
    if state.kind == .live { return client }
    endPlaybackNow()
    if state.take != nil {
      let kept =
        "a take is running: the device \(name) comes when it has ended; cancel that with: pinna preset cancel"
      for request in change?.requests ?? [] { request.answer(.done(ChangeReport(inForce, kept: kept))) }
      guard let current = change, !current.requests.isEmpty else { return nil }
      change?.promised = DeviceChange.Promise(setting: current.setting, filters: filters)
      change?.displaced = nil
      change?.requests = []
    }
    return nil
  }

  private func tellProgress(_ text: String, part: Double) {
    guard world.now >= nextProgress else { return }
    nextProgress = world.now + .seconds(1)
    for request in change?.requests ?? [] { request.tell(text, part: part) }
  }

  /// The fade-out takes longer than it may: what sounded before sounds again.
  func pollFadeOut() {
    guard isLate, case .fadingOut(let change, let engine, _, _) = state, let client else { return }
    client.discard(engine)
    enter(.live)
    // The queue keeps room for it, and has it behind the fade-out.
    try? post(wanted, nil, isRestoring: true)
    end(change, .failed(Failure(.failed, Self.stalled + "; the device stays, try again when it does")))
    resumeDisplaced(by: change)
  }

  /// The outputs are silent: the other device takes over.
  func exchange(_ change: DeviceChange, _ engine: any PreparedEngine, _ new: any DeviceFilters) {
    client?.adopt(engine)
    // The queue is in order: whatever was asked of the old engine has ended before its fade-out.
    answerPending(.failed, "another device took over before this was done; see: pinna status")
    filters = new
    enter(.live)
    let (setting, requests) = (change.setting, change.requests)
    let all = Request { outcome in for request in requests { request.answer(outcome) } }
    do { try post(setting, all) } catch { all.answer(.failed(Failure(error))) }
    tellOfPreRoll()
  }

  /// Where takes cannot reach back as far as was asked.
  func tellOfPreRoll() {
    guard preRollSeconds > 0, let kept = client?.readings.preRollSeconds, kept < Double(preRollSeconds) else {
      return
    }
    warn(
      String(
        format: "--pre-roll: takes reach back %.1f s, not %d s: more channels at this rate pass 256 MB", kept,
        preRollSeconds))
  }
}
