import Acoustics
import Messages
import Realtime
import Recording
import Rendering
import Settings

/// Crossfades on their way through the callback: changes of feeds, and other filters for what is in force.
extension Processor {
  // MARK: Changes

  /// Posts a crossfade to `setting`, for the current device, as soon as its filters are there. `request` is answered when
  /// the callback has applied it.
  /// - Parameters:
  ///   - changes: what was asked for with `request`; nil if that is not known.
  ///   - standsIn: as in `Fade`.
  ///   - isRestoring: uses the slot that the queue reserves for restoring the previous setting.
  func post(
    _ setting: Setting, _ request: Request?, changes: [Change]? = nil, standsIn: Bool = false,
    isRestoring: Bool = false
  ) throws {
    if let key = missingKey(for: setting.main.selection, of: setting.device) {
      try refuseOutsideGraph()
      return try aim(at: key, for: setting.main.selection, from: setting, request)
    }
    try post(FeedSetting.main, setting, request, changes, standsIn: standsIn, isRestoring: isRestoring)
    heard.wanted = setting
  }

  /// Posts a change of a feed, whose filters are there.
  func post(
    _ name: String, _ setting: Setting, _ request: Request? = nil, _ changes: [Change]? = nil,
    standsIn: Bool = false, isRestoring: Bool = false
  ) throws {
    let turned = turn(try setting.feed(named: name).selection, of: setting.device)
    if turned != nil { client?.use(onDemand.choice) }
    let ticket = try clientInGraph().change(name, to: setting, isRestoring: isRestoring)
    machines[name, default: FeedMachine()].posted(
      ticket,
      Fade(
        setting: setting, missing: fallback.chosen, turned: turned, deadline: world.now + .seconds(3),
        request: request, changes: changes, standsIn: standsIn), isPromised: isRestoring)
    machines[name]?.turn.sent = turned
  }

  /// Handles the callback's report on a crossfade that it has applied, dropped or refused.
  func fadeEnded(_ ticket: Ticket, _ end: Fade.End) {
    if end == .refused { for name in machines.keys { machines[name]?.turn.forgetSent() } }
    guard let name = machines.first(where: { $0.value.fades[ticket] != nil })?.key,
      let fade = machines[name]?.removeFade(ticket, end)
    else { return }
    switch end {
    case .inForce: isInForce(fade, of: name)
    case .superseded: machines[name]?.dropped(fade, ticket)?.fail(.failed, Failure.superseded)
    case .refused:
      if FeedSetting.isMain(name), fade.setting?.with(wanted.others) == wanted {
        want(machines[name]?.coming ?? inForce)
      }
      fade.request?.fail(.refused, recordingReason)
    }
  }

  private func isInForce(_ fade: Fade, of name: String) {
    let isMain = FeedSetting.isMain(name)
    guard let setting = fade.setting else {
      if fade.isFallback, isMain { fallback.inForce = fade.missing }
      return
    }
    machines[name]?.inForce = try? setting.feed(named: name)
    machines[name]?.turn.changed(fade.turned)
    guard isMain else { return }
    let old = inForce
    heard.applied(setting)
    fallback.changed(without: fade.missing)
    notifyOfChange(from: old, to: inForce)
    if let request = fade.request { answer(request, changeFrom: old) }
  }

  /// Replaces what is wanted of `main` and of all feeds together; the others stay as they are wanted.
  private func want(_ setting: Setting) { heard.wanted = setting.with(wanted.others) }

  /// Answers requests that the callback did not handle in time, because no period runs. The changes stay queued and
  /// take effect when periods resume.
  func failExpiredChanges() {
    for name in machines.keys {
      for request in machines[name]?.removeExpiredRequests(where: hasPassed) ?? [] {
        request.fail(.failed, Self.stalled + "; the change comes into force when they do")
      }
    }
  }

  static let stalled = "no periods reach Pinna"

  /// Called before the engine is lost. The next engine plays what was promised, otherwise what is in force. A case that this
  /// engine was to restore stays wanted.
  func wantRestored() {
    guard state.isInGraph else { return }
    var setting = machines[FeedSetting.main]?.promised?.setting ?? inForce
    if let aim = onDemand.aim, aim.key.device == setting.device {
      if aim.request == nil {
        setting.main.selection = aim.selection
      } else if wanted == setting.with(wanted.others), aim.before.device == setting.device {
        // The request fails.
        setting = aim.restored(wanted)
        heard.want(setting.others)
      }
    }
    want(setting)
  }

  /// Fails all changes on their way: the callback that received them will not report again.
  func failPendingChanges(_ failure: Failure) {
    dropAim(failure)
    for name in machines.keys.sorted() {
      for request in machines[name]?.forgetFades() ?? [] { request.fail(failure) }
    }
  }

  // MARK: Other filters

  /// Fades feeds to the filters that are chosen by now. This is allowed during takes, whose sidecars list it.
  /// - Returns: whether they are on their way.
  @discardableResult func substitute(_ feeds: [String], isFallback: Bool = false) -> Bool {
    guard let client, let tickets = try? client.substitute(feeds, in: wanted) else { return false }
    for (name, ticket) in tickets {
      let selection = (try? wanted.feed(named: name))?.selection
      let turned = selection.flatMap { $0.follows.isEmpty ? nil : onDemand.choice.played($0) }
      machines[name, default: FeedMachine()].posted(
        ticket, Fade(setting: nil, missing: fallback.chosen, isFallback: isFallback, turned: turned))
      machines[name]?.turn.sent = turned
    }
    return !tickets.isEmpty
  }

  /// Handles the callback's report that the fade to other filters begins.
  func substitutionBegan(_ ticket: Ticket, frame: Int, takeFrame: Int?) {
    guard let (name, machine) = machines.first(where: { $0.value.fades[ticket] != nil }),
      let began = machine.fades[ticket]
    else { return }
    let recording = takeFrame.flatMap { frame in
      (state.take ?? takeAtStop).map { (take: $0.take, frame: frame + $0.take.preRollFrames) }
    }
    if let turned = began.turned {
      machines[name]?.turn.began(at: frame, turned)
      if let (take, frame) = recording { take.addTurn(Sidecar.Turn(turned, frame: frame, feed: name)) }
    }
    guard began.isFallback else { return }
    if let (take, frame) = recording {
      take.addFallback(frame: frame, without: began.missing.sorted(), feed: name)
    }
    if FeedSetting.isMain(name) { fallbackBegan(at: frame, without: began.missing) }
  }
}
