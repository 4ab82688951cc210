import Acoustics
import Glibc
import Messages
import Realtime
import Recording
import Rendering
import Settings

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
  package var onEvent: (EngineEvent) -> Void = { _ in }

  package private(set) var state = ProcessorState.absent
  /// When the state times out; nil for a state without a limit.
  package private(set) var deadline: ContinuousClock.Instant?
  /// The current client, or the last one after the server has gone.
  package var client: (any AudioClient)?
  /// The attempts to join a graph, including the first one; nil while in a graph.
  var reconnection: Reconnection?

  package internal(set) var heard: Heard
  /// A requested change of device that has not taken over yet. Recording, mute and gain keep working meanwhile.
  package internal(set) var change: DeviceChange?

  /// Changes in force whose port connections are not made yet. `graphCheck` is the check that makes them.
  var changesAwaitingConnections:
    [(request: Request, report: ChangeReport, graphCheck: Int, deadline: ContinuousClock.Instant)] = []
  package internal(set) var takes = Takes()
  /// Period changes that sessions requested and the server has not answered.
  package internal(set) var periodRequests:
    [(job: Job<Int>, request: Request, deadline: ContinuousClock.Instant)] = []

  var watchdog = Watchdog()
  var stallProbe = StallProbe()
  var fallback = Fallback()
  /// By the feeds' names, `main` among them.
  package internal(set) var machines = [FeedSetting.main: FeedMachine()]
  var onDemand = OnDemand()
  var tracking = Tracking()
  /// Why what comes in where poses are expected counts for nothing; nil if it does.
  package var trackerProblem: String?
  var warnings = Warnings()
  var wakefulness = Wakefulness()
  var duplicateSignals = DuplicateSignalDetector()
  package var graph = GraphReport()
  /// When the processor is at rest, unless something happens before.
  private var restBegin: ContinuousClock.Instant
  /// When to check connections and levels next.
  var nextGraphCheck: ContinuousClock.Instant
  /// Of the client, at the last look.
  var freewheelChanges = 0
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
    heard = Heard(setting)
    reconnection = Reconnection(reason: nil, now: world.now)
    restBegin = world.now
    nextGraphCheck = world.now
    nextProgress = world.now
    lastPoll = world.now
    graceEnd = world.now
  }

  package var inForce: Setting { heard.inForce }
  package var wanted: Setting { heard.wanted }
  var filters: FilterSets? { heard.filters }

  /// Performs every state transition, and starts the time limit of the new state.
  func enter(_ next: ProcessorState) {
    state = next
    stir()
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

  /// How often the graph and the levels are looked at: while something happens, and at rest.
  static let watchInterval = Duration.milliseconds(45)
  static let restInterval = Duration.milliseconds(500)

  /// Something has happened: for a second, the graph and the levels are watched closely.
  func stir() { restBegin = world.now + .seconds(1) }

  /// How long the controller may leave the processor alone if nothing wakes it. The callback owes a report while it is
  /// busy, and must not make a system call to wake a thread.
  package var patience: Duration { isBusy ? .milliseconds(2) : currentWatchInterval }

  var currentWatchInterval: Duration { isAtRest ? Self.restInterval : Self.watchInterval }

  /// Whether nothing has happened for a second, and nothing is about to be noticed.
  private var isAtRest: Bool {
    state.kind == .live && world.now >= restBegin && !fallback.isBusy && !watchdog.isDeciding
      && !fallback.watch.isDeciding && !warnings.isDeciding && !onDemand.nearby.isBusy && !followsTalkers
  }

  /// True while the callback or a job owes a result.
  package var isBusy: Bool {
    !changesAwaitingConnections.isEmpty || change != nil || !takes.closing.isEmpty
      || !periodRequests.isEmpty || deadline != nil
      || onDemand.aim != nil && state.take == nil
      || machines.values.contains(where: \.isBusy)
  }

  /// Whether `setting` is in force and no change is pending.
  package func isSettled(at setting: Setting) -> Bool {
    !isChangingMain && change == nil && onDemand.aim == nil && setting == wanted && setting == inForce
  }

  /// Whether a change of `main` is on its way through the callback.
  package var isChangingMain: Bool { machines[FeedSetting.main]?.isChanging ?? false }

  /// Whether a change can begin now.
  package var isFree: Bool { state.kind == .live && change == nil }

  package var isStopped: Bool { state.kind == .stopped }
  package var isStopping: Bool { state.kind == .stopping || isStopped }

  // MARK: Events

  /// Tells all open sessions.
  func notify(_ kind: EngineEvent.Kind, _ text: String) { onEvent(EngineEvent(kind, text)) }

  /// Tells all open sessions, and records it in the sidecar of the take that is running.
  func notifyAndRecord(_ kind: EngineEvent.Kind, _ text: String) {
    state.take?.take.note(text)
    notify(kind, text)
  }

  // MARK: Polling

  /// Handles reports and job results that have arrived since the last call, and expires deadlines. The controller calls
  /// this on each pass of its loop.
  package func poll() {
    detectOwnPause()
    if let client, state.isInGraph {
      for report in client.drainReports() { handle(report) }
      if let loss = client.loss { leaveServer(loss) }
    }
    pollSampleRate()
    failExpiredChanges()
    switch state {
    case .absent, .opening, .joining, .preparing, .unusable, .leaving: pollServer()
    case .openingTake, .startingTake, .endingTake: pollTake()
    case .openingPlayback, .endingPlayback: pollPlayback()
    case .fadingOut: pollFadeOut()
    case .stopping: pollStop()
    case .recording: endTakeThatIsOver()
    case .live, .armed, .playing, .stranded, .stopped: break
    }
    pollChange()
    pollClosing()
    pollPeriodRequests()
    pollGraph()
    pollStall()
    pollOnDemand()
    pollFallback()
    pollFeeds()
    pollTracking()
    pollNearby()
    pollSleep()
  }

  private func handle(_ report: Report) {
    stir()
    switch report {
    case .applied(let ticket, _):
      if case .fadingOut(let change, let engine, let filters, ticket) = state {
        return switchDevice(change, engine, filters)
      }
      fadeEnded(ticket, .inForce)
    case .substituted(let ticket, let frame, let takeFrame):
      substitutionBegan(ticket, frame: frame, takeFrame: takeFrame)
    case .superseded(let ticket): fadeEnded(ticket, .superseded)
    case .refused(let ticket, _): fadeEnded(ticket, .refused)
    case .takeArmed(let ticket): takeArmed(ticket)
    case .takeBegan(let ticket, let frame): takeBegan(ticket, frame: frame)
    case .transportStopped(let take, _): transportStopped(take)
    case .takeEnded(let ticket, _, _), .noTake(let ticket): takeEnded(ticket)
    case .playbackEnded(let ticket): playbackEnded(ticket)
    case .released, .convolverReplaced, .feedBegan, .feedEnded: break
    }
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

  /// The client whose callback runs the current engine, for what must not happen during a take or a switch of device.
  /// - Throws: also during a take, and during the fade-out before another device takes over. A playback does not count.
  @discardableResult
  package func clientOutsideTakeOrFadeOut() throws(Failure) -> any AudioClient {
    let client = try clientInGraph()
    try refuseDuringTake()
    try refuseDuringFadeOut()
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
