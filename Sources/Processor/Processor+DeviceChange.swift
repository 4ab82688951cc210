import Acoustics
import Glibc
import JackClient
import Messages
import Presets
import Recording
import Rendering
import Settings

/// Changes of device. Filters are designed and ports registered in the background; then the outputs fade out, and the
/// new engine takes over and fades in.
extension Processor {
  /// Begins a change to the device of `setting`. It replaces a pending change, whose requests fail.
  func begin(changeTo setting: Setting, _ request: Request) {
    let displaced = change?.promised ?? change?.displaced
    drop(change, Failure(.failed, "a newer change of device replaced this one; see: pinna status"))
    change = nil
    // Back to the current device: its filters and ports are ready.
    if setting.device == wanted.device {
      return request.attempt { try post(setting, request) }
    }
    let job = world.design(setting.device, sampleRate: client?.sampleRate ?? 0)
    change = DeviceChange(
      setting: setting, requests: [request], displaced: displaced, phase: .designing(job), began: world.now)
    pollChange()
  }

  /// Resumes the promised change that `failed` had replaced.
  private func resumeDisplaced(by failed: DeviceChange) {
    guard change == nil, let promise = failed.displaced else { return }
    change = DeviceChange(
      setting: promise.setting, requests: [], promised: promise, phase: .designed(promise.filters),
      began: world.now)
    warn(
      "the change to \(promise.setting.device.name) is resumed: the change that had replaced it failed")
  }

  /// Cancels the pending change of device.
  package func cancelChange(_ request: Request) throws {
    guard let pending = change else {
      throw Failure(.failed, "no change of device is pending; see: pinna status")
    }
    change = nil
    drop(pending, Failure(.failed, "the change to \(pending.setting.device.name) was cancelled"))
    request.answer(.done(CancelAnswer(cancelled: pending.setting.device.name)))
  }

  /// Releases what was prepared for `change`, and fails its requests.
  func drop(_ change: DeviceChange?, _ failure: Failure) {
    guard let change else { return }
    switch change.phase {
    case .designing(let job): job.abandon()
    case .designed: break
    case .preparing(_, let job, _): abandon(job)
    case .prepared(_, let engine, _): engine.discard()
    }
    fail(change, failure)
  }

  /// Abandons `job`; ports that it registers later are unregistered. The client is held weakly: its ports go with it,
  /// and a job that never ends must not keep it alive.
  func abandon(_ job: Job<any PreparedEngine>) {
    job.abandon { $0.discard() }
  }

  /// Fails the requests of `change`. A change without requests was promised: the operator is warned instead.
  func fail(_ change: DeviceChange, _ failure: Failure) {
    notify(.inputChangeFailed, failure.description)
    if change.requests.isEmpty { warn(failure.description) }
    for request in change.requests { request.fail(failure) }
  }

  /// Advances the change when its job has ended. Cancels it on a timeout, or if every client that requested it has
  /// gone.
  func pollChange() {
    guard let current = change else { return }
    let name = current.setting.device.name
    func endChange(_ failure: Failure) {
      change = nil
      drop(current, failure)
      resumeDisplaced(by: current)
    }
    if !current.isPromised, !current.requests.contains(where: \.isAskerThere) {
      return endChange(
        Failure(
          .failed, "the change to \(name) was cancelled because the program that requested it has ended"))
    }
    switch current.phase {
    case .designing(let job):
      switch job.result {
      case .success(let filters):
        change?.phase = .designed(filters)
        pollChange()
      case .failure(let failure): endChange(failure)
      case nil where hasPassed(current.began + .seconds(600)):
        endChange(
          Failure(.failed, "the filter design for \(name) took longer than 10 minutes and was cancelled"))
      case nil:
        // No progress is reported when the filters are read from the cache.
        if let part = job.progress { reportProgress("designing filters for \(name)", part: part) }
      }
    case .designed(let filters):
      guard let client = clientForChange(name, filters) else { return }
      let (device, selection) = (current.setting.device, current.setting.main.selection)
      do { try check(selection, of: device, in: filters) } catch { return endChange(Failure(error)) }
      change?.phase = .preparing(
        filters, client.prepare(filters, for: device), deadline: world.now + .seconds(5))
    case .preparing(let filters, let job, let deadline):
      switch job.result {
      case .success(let engine):
        change?.phase = .prepared(filters, engine, deadline: world.now + .seconds(3))
        pollChange()
      case .failure(let failure):
        endChange(Failure(failure.status, "the device could not be changed: \(failure.description)"))
      case nil where hasPassed(deadline):
        endChange(Failure(.failed, "the JACK server does not answer; try again when it does"))
      case nil: break
      }
    case .prepared(let filters, let engine, let deadline):
      guard let client = clientForChange(name, filters) else {
        change?.phase = .prepared(filters, engine, deadline: world.now + .seconds(3))
        return
      }
      // Earlier changes must have ended and been answered before the fade-out.
      if !isChangingMain, let ticket = try? client.fadeOut(from: wanted) {
        change = nil
        enter(.fadingOut(current, engine, filters, ticket))
      } else if hasPassed(deadline) {
        endChange(Self.unchangedByStall)
      }
    }
  }

  /// Returns the client if another device may take over now.
  ///
  /// Otherwise returns nil, after one of two actions. A playback is ended. During a take, the requests are answered
  /// with the notice that the device changes when the take ends, and the change is recorded as a promise.
  private func clientForChange(_ name: String, _ filters: FilterSets) -> (any AudioClient)? {
    if state.kind == .live { return client }
    endPlaybackNow("the device changed before the playback began; start it again")
    if state.take != nil {
      let kept =
        "a take is running: the device changes to \(name) when it ends; cancel with: pinna preset cancel"
      for request in change?.requests ?? [] { request.answer(.done(changeReport(kept: kept))) }
      guard let current = change, !current.requests.isEmpty else { return nil }
      change?.promised = DeviceChange.Promise(setting: current.setting, filters: filters)
      change?.displaced = nil
      change?.requests = []
    }
    return nil
  }

  /// Reports progress to the requests of the pending change, at most once a second.
  private func reportProgress(_ text: String, part: Double) {
    guard world.now >= nextProgress else { return }
    nextProgress = world.now + .seconds(1)
    for request in change?.requests ?? [] { request.reportProgress(text, part: part) }
  }

  private static let unchangedByStall = Failure(
    .failed, stalled + "; the device is unchanged, try again when they do")

  /// On timeout of the fade-out: keeps the current device and fades it in again.
  func pollFadeOut() {
    guard isLate, case .fadingOut(let change, let engine, _, _) = state else { return }
    engine.discard()
    enter(.live)
    // The queue reserves a slot for this change, and delivers it after the fade-out.
    try? post(wanted, nil, isRestoring: true)
    let before = wanted.with(wanted.others.compactMap { machines[$0.name]?.inForce })
    for feed in before.others { _ = try? client?.change(feed.name, to: before, isRestoring: false) }
    fail(change, Self.unchangedByStall)
    resumeDisplaced(by: change)
  }

  /// Switches to the new device's engine once the outputs are silent.
  func switchDevice(_ change: DeviceChange, _ engine: any PreparedEngine, _ new: FilterSets) {
    engine.adopt()
    // The queue is FIFO: everything posted to the old engine ended before its fade-out.
    failPendingChanges(Failure(.failed, "another device took over before this was done; see: pinna status"))
    heard.use(new)
    resetEngine()
    enter(.live)
    let (setting, requests) = (change.setting, change.requests)
    let all = Request { outcome in for request in requests { request.answer(outcome) } }
    all.attempt { try post(setting, all) }
    warnOfShortPreRoll()
  }

  /// Warns if the pre-roll buffer is shorter than requested.
  func warnOfShortPreRoll() {
    guard preRollSeconds > 0, let kept = client?.readings.preRollSeconds, kept < Double(preRollSeconds) else {
      return
    }
    warn(
      String(
        format: "--pre-roll: takes reach back %.1f s, not %d s: a longer buffer would exceed 256 MB", kept,
        preRollSeconds))
  }
}
