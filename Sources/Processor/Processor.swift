import Acoustics
import Foundation
import Messages
import Realtime
import Recording

/// The running processor: a client in a JACK graph, the current setting, and the take.
///
/// An explicit state machine (`ProcessorState`). Requests, reports from the callback, job results and the clock cause
/// its transitions.
///
/// Nothing here blocks. Slow work is a `Job` or a request to the callback under a `Ticket`; `poll` collects the result.
/// Invariants: every wait has a deadline, and every request gets exactly one answer.
///
/// Thread: control thread, for every function of this type and its extensions.
package final class Processor {
  package let world: any AudioWorld
  /// Writes one line to the operator's terminal.
  let warn: (String) -> Void
  /// Sends an event to all open sessions.
  package var notify: (EngineEvent) -> Void = { _ in }

  package private(set) var state = ProcessorState.absent
  /// When the state times out; nil for a state without a limit.
  package private(set) var deadline: ContinuousClock.Instant?
  /// The current client, or the last one after the server has gone.
  package var client: (any AudioClient)?
  /// The attempts to join a graph, including the first one; nil while in a graph.
  var reconnection: Reconnection?

  /// The setting that is audible or fading in.
  package internal(set) var inForce: Setting
  /// The newest accepted setting of the current device: in force, or pending in the callback.
  package internal(set) var wanted: Setting
  /// The filters of the current engine; nil before the first engine.
  var filters: (any DeviceFilters)?
  /// The filters of `inForce`. They differ from `filters` between a device switch and its fade-in; if the server dies
  /// in between, the next engine uses these.
  var filtersInForce: (any DeviceFilters)?
  /// A requested change of device that has not taken over yet. Recording, mute and gain keep working meanwhile.
  package internal(set) var change: DeviceChange?

  /// Changes that the callback has not reported on yet.
  package private(set) var pending: [Ticket: PendingChange] = [:]
  /// Changes in force whose port connections are not made yet. `graphCheck` is the check that makes them.
  var changesAwaitingConnections:
    [(request: Request, report: ChangeReport, graphCheck: Int, deadline: ContinuousClock.Instant)] = []
  /// Takes that have ended and that the disk thread is still writing.
  package internal(set) var closingTakes: [ClosingTake] = []
  package static let maxClosingTakes = 4
  /// Takes and playbacks that were abandoned while the disk was still opening them. Each holds a thread.
  var hangingDiskWork: [any DiskWork] = []
  package static let maxHangingDiskWork = 4
  /// The first incomplete take. `pinna run` then exits with status 7, even if later takes are complete.
  package internal(set) var incompleteTake: TakeWriter.Result?
  /// Number of takes begun so far; also the number of the latest take.
  var takesBegun = 0
  /// Own ports that lost a connection during the take and have not regained it.
  var portsAwaitingPeers: Set<String> = []
  /// The latest take, once it is on disk; nil before that, and while a newer take runs.
  var lastTake: EndedTake?
  /// Takes that `stop` ended.
  var endedAtStop: [EndedTake] = []
  /// One sentence per take that was incomplete or unfinished when Pinna stopped.
  package internal(set) var faultsAtStop: [String] = []
  /// Period changes that sessions requested and the server has not answered.
  package internal(set) var periodRequests:
    [(job: Job<Int>, request: Request, deadline: ContinuousClock.Instant)] = []

  var watchdog = Watchdog()
  var stallProbe = StallProbe()
  var fallback = Fallback()
  var warnings = Warnings()
  var duplicateSignals = DuplicateSignalDetector()
  package var graph = GraphReport()
  /// When to check connections and levels next.
  var nextGraphCheck: ContinuousClock.Instant
  var nextProgress: ContinuousClock.Instant
  private var lastPoll: ContinuousClock.Instant
  /// No deadline passes before this instant. Set after this process was suspended: replies may be queued.
  private var graceEnd: ContinuousClock.Instant
  /// The values in the latest events about the graph.
  var lastNotified = NotifiedValues()
  let monitor: [String]
  let preRollSeconds: Int
  /// Whether to wait for the server to return when it goes.
  let reconnects: Bool

  package struct PendingChange {
    let setting: Setting
    /// The missing microphones that its filters do without.
    let missing: Set<String>
    let deadline: ContinuousClock.Instant
    /// Nil for an internal change, and after the request timed out.
    var request: Request?
  }

  /// - Parameters:
  ///   - monitor: playback ports to connect the outputs to, left and right.
  ///   - reconnects: whether to wait for a server that has gone. If false, its loss is final (`permanentLossReason`).
  ///   - warn: writes one line to the operator's terminal.
  package init(
    world: any AudioWorld, setting: Setting, monitor: [String] = [], preRollSeconds: Int = 0,
    reconnects: Bool = true, warn: @escaping (String) -> Void
  ) {
    self.world = world
    self.warn = warn
    self.monitor = monitor
    self.preRollSeconds = preRollSeconds
    self.reconnects = reconnects
    inForce = setting
    wanted = setting
    reconnection = Reconnection(reason: nil, now: world.now)
    nextGraphCheck = world.now
    nextProgress = world.now
    lastPoll = world.now
    graceEnd = world.now
  }

  /// Performs every state transition, and starts the time limit of the new state.
  func enter(_ next: ProcessorState) {
    state = next
    deadline = next.kind.limit.map { world.now + $0 }
  }

  /// Replaces the associated values of the current state; its deadline stays.
  func updateState(_ next: ProcessorState) {
    assert(next.kind == state.kind, "updateState must not change the kind of state")
    state = next
  }

  var isLate: Bool { deadline.map(hasPassed) ?? false }

  /// Whether `deadline` has passed. Grants a grace period after this process itself was suspended.
  func hasPassed(_ deadline: ContinuousClock.Instant) -> Bool {
    world.now > deadline && world.now >= graceEnd
  }

  /// A gap of 2 s between polls means that this process was suspended.
  private func detectOwnPause() {
    let pause = world.now - lastPoll
    lastPoll = world.now
    guard pause > .seconds(2) else { return }
    graceEnd = world.now + .milliseconds(500)
    let sentence = "Pinna stood still for \(pause.formatted), perhaps because the machine was suspended"
    state.take?.take.note(sentence)
    warn(sentence)
  }

  /// True while the callback or a job owes a result: the controller then polls every 2 ms.
  package var isBusy: Bool {
    !pending.isEmpty || !changesAwaitingConnections.isEmpty || change != nil || !closingTakes.isEmpty
      || !periodRequests.isEmpty || deadline != nil
  }

  /// Whether `setting` is in force and no change is pending.
  package func isSettled(at setting: Setting) -> Bool {
    pending.isEmpty && change == nil && setting == wanted && setting == inForce
  }

  /// Whether a change can begin now.
  package var isFree: Bool { state.kind == .live && change == nil }

  package var isStopped: Bool { state.kind == .stopped }
  package var isStopping: Bool { state.kind == .stopping || isStopped }

  // MARK: Polling

  /// Handles reports and job results that have arrived since the last call, and expires deadlines. The controller calls
  /// this on each pass of its loop.
  package func poll() {
    detectOwnPause()
    if let client, state.isInGraph {
      for report in client.drainReports() { handle(report) }
      if let reason = client.lossReason { leaveServer(reason) }
    }
    pollSampleRate()
    failExpiredChanges()
    switch state {
    case .absent, .opening, .joining, .preparing, .unusable, .leaving: pollServer()
    case .openingTake, .startingTake, .endingTake: pollTake()
    case .openingPlayback, .endingPlayback: pollPlayback()
    case .fadingOut: pollFadeOut()
    case .stopping: pollStop()
    case .live, .armed, .recording, .playing, .stranded, .stopped: break
    }
    pollChange()
    pollClosing()
    pollPeriodRequests()
    pollGraph()
    pollStall()
    pollFallback()
  }

  private func handle(_ report: Report) {
    switch report {
    case .applied(let ticket, _):
      if case .fadingOut(let change, let engine, let filters, ticket) = state {
        return switchDevice(change, engine, filters)
      }
      if substitutionEnded(ticket, isInForce: true) { return }
      guard let ended = pending.removeValue(forKey: ticket) else { return }
      let old = inForce
      inForce = ended.setting
      filtersInForce = filters
      fallback.changed(without: ended.missing)
      notifyOfChange(from: old, to: inForce)
      if let request = ended.request { answer(request, changeFrom: old) }
    case .substituted(let ticket, let frame, let takeFrame):
      substitutionBegan(ticket, frame: frame, takeFrame: takeFrame)
    case .superseded(let ticket):
      if substitutionEnded(ticket, isInForce: false) { return }
      pending.removeValue(forKey: ticket)?.request?.fail(
        .failed, Self.superseded)
    case .refused(let ticket, _):
      guard let ended = pending.removeValue(forKey: ticket) else { return }
      if ended.setting == wanted { wanted = pending.max { $0.key < $1.key }?.value.setting ?? inForce }
      ended.request?.answer(.failed(Failure(.refused, recordingReason)))
    case .takeArmed(let ticket): takeArmed(ticket)
    case .takeBegan(let ticket, let frame): takeBegan(ticket, frame: frame)
    case .transportStopped(let take, _): transportStopped(take)
    case .takeEnded(let ticket, _, _), .noTake(let ticket): takeEnded(ticket)
    case .playbackEnded(let ticket): playbackEnded(ticket)
    case .released, .convolverReplaced: break
    }
  }

  // MARK: Changes

  /// Posts a crossfade to `setting`, for the current device. `request` is answered when the callback has applied it.
  /// - Parameter isRestoring: uses the slot that the queue reserves for restoring the previous setting.
  func post(_ setting: Setting, _ request: Request?, isRestoring: Bool = false) throws {
    let ticket = try clientInGraph().change(to: setting, isRestoring: isRestoring)
    pending[ticket] = PendingChange(
      setting: setting, missing: fallback.chosen, deadline: world.now + .seconds(3), request: request)
    wanted = setting
  }

  /// Answers requests that the callback did not handle in time, because no period runs. The changes stay queued and
  /// take effect when periods resume.
  private func failExpiredChanges() {
    for (ticket, change) in pending where change.request != nil && hasPassed(change.deadline) {
      pending[ticket]?.request = nil
      change.request?.fail(.failed, Self.stalled + "; the change comes into force when it does")
    }
  }

  package static let superseded = "superseded by a newer change before it could begin; see: pinna status"
  static let stalled = "the JACK server runs no periods"

  /// Fails all pending changes: the callback that received them will not report again.
  func failPendingChanges(_ status: ExitStatus, _ sentence: String) {
    let waiting = pending.sorted { $0.key < $1.key }.compactMap(\.value.request)
    pending = [:]
    wanted = inForce
    for request in waiting { request.fail(status, sentence) }
  }

  var recordingReason: String {
    if case .armed(let recording) = state {
      return "\(recording.take.path ?? "a take") is armed: nothing may change until it is recorded; "
        + "disarm it with: pinna record stop"
    }
    return
      "recording \(state.take?.take.path ?? "a take"): nothing may change until it ends; \(Failure.stopHint)"
  }

  // MARK: Refusals

  /// Throws unless the processor is in a graph and not stopping.
  package func refuseOutsideGraph() throws(Failure) {
    switch state.kind {
    case .stopping, .stopped:
      throw Failure(.notRunning, "Pinna is being stopped; start it again with: pinna run")
    case .absent, .opening, .joining, .preparing, .unusable, .leaving, .stranded:
      throw Failure(.noServer, reconnection?.sentence(state) ?? "there is no JACK server")
    default: break
    }
  }

  /// The client whose callback runs the current engine.
  /// - Throws: `noServer` or `notRunning` when not in a graph.
  func clientInGraph() throws(Failure) -> any AudioClient {
    try refuseOutsideGraph()
    guard let client else { throw Failure(.noServer, "no JACK server is running; start one") }
    return client
  }

  func refuseDuringTake() throws(Failure) {
    if state.take != nil { throw Failure(.refused, recordingReason) }
  }

  func refuseDuringPlayback() throws(Failure) {
    switch state {
    case .openingPlayback(let player, _): throw playing(player.path)
    case .playing(let playing), .endingPlayback(let playing): throw self.playing(playing.player.path)
    default: break
    }
  }

  private func playing(_ path: String) -> Failure {
    Failure(.failed, "\(path) is playing; stop it with: pinna play --stop")
  }

  /// Throws during the fade-out before a device switch, which lasts 3 s at most.
  func refuseDuringFadeOut() throws(Failure) {
    if case .fadingOut(let change, _, _, _) = state {
      throw Failure(
        .failed, "the device \(change.setting.device.name) is just taking over; try again in a moment")
    }
  }
}
