import Acoustics
import Foundation
import Realtime
import Recording

/// The running processor: a client in a JACK graph, what is set, and the take. An explicit state machine: requests,
/// the callback's reports, results of jobs and the clock move it from state to state (`ProcessorState`).
///
/// Thread: control. Nothing here waits: what takes time is a `Job`, or a request to the callback under a `Ticket`, and
/// `poll` hears how it ended. Each wait has a deadline, and each request gets exactly one answer.
package final class Processor {
  let world: any AudioWorld
  /// One line for whoever watches the processor.
  let warn: (String) -> Void
  /// Tells whoever listens what happened.
  package var notify: (EngineEvent) -> Void = { _ in }

  package private(set) var state = ProcessorState.absent
  /// When the state's limit ends; nil where it has none.
  package private(set) var deadline: ContinuousClock.Instant?
  /// The client that we are in a graph with, or were last.
  var client: (any AudioClient)?
  /// The way into a graph, the first one included; nil while we are in one.
  var rejoin: Rejoin?

  /// What sounds, or fades in.
  package internal(set) var inForce: Setting
  /// What was accepted last for the device in use: in force, or on its way.
  package internal(set) var wanted: Setting
  /// Of the engine in use; nil before the first.
  var filters: (any DeviceFilters)?
  /// The filters that `inForce` sounds with: what a server that dies during a change of device leaves us with.
  var filtersInForce: (any DeviceFilters)?
  /// Another device that was asked for; recording, mute and gain go on meanwhile.
  package internal(set) var change: DeviceChange?

  /// Changes on their way through the callback.
  package private(set) var pending: [Ticket: PendingChange] = [:]
  /// Changes in force whose connections are still being made.
  var settling: [(request: Request, report: ChangeReport, look: Int, deadline: ContinuousClock.Instant)] = []
  /// Takes that the disk thread still writes.
  package internal(set) var closing: [ClosingTake] = []
  package static let mostClosing = 4
  /// Takes and playbacks that were given up while the disk was still opening them.
  var hanging: [any DiskWork] = []
  package static let mostHanging = 4
  /// The first incomplete one: `run` ends with 7 for it, however well later ones went.
  package internal(set) var incompleteTake: TakeWriter.Result?
  /// How many takes began: each has its number.
  var takesBegun = 0
  /// Our ports that lost a connection during the take, and did not get that back.
  var bereftPorts: Set<String> = []
  /// The take that began last, once it is on disk.
  var lastTake: EndedTake?
  /// Takes that ended with Pinna.
  var endedAtStop: [EndedTake] = []
  /// What a stop could not finish, or found incomplete, a sentence each.
  package internal(set) var faultsAtStop: [String] = []
  /// Periods that sessions asked the server for.
  package internal(set) var periodRequests:
    [(job: Job<Int>, request: Request, deadline: ContinuousClock.Instant)] = []

  var watchdog = Watchdog()
  var warnings = Warnings()
  var alike = AlikeMicrophones()
  var graph = GraphNews()
  /// When the graph and the levels are looked at again.
  var nextLook: ContinuousClock.Instant
  var nextProgress: ContinuousClock.Instant
  private var lastPoll: ContinuousClock.Instant
  /// No wait is over before: this process was stopped, and others may not have been heard since.
  private var graceEnd: ContinuousClock.Instant
  /// What was told last of what may change by itself.
  var seen = SeenGraph()
  let monitor: [String]
  let preRollSeconds: Int
  /// Whether a server that goes is waited for.
  let reconnects: Bool

  package struct PendingChange {
    let setting: Setting
    let deadline: ContinuousClock.Instant
    /// Nil where nobody asked, or the answer was that no period runs.
    var request: Request?
  }

  /// - Parameters:
  ///   - monitor: ports that the outputs go to, left and right.
  ///   - reconnects: whether a server that goes is waited for; otherwise it is the end (`lossForGood`).
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
    rejoin = Rejoin(reason: nil, now: world.now)
    nextLook = world.now
    nextProgress = world.now
    lastPoll = world.now
    graceEnd = world.now
  }

  /// The one place where the state changes.
  func enter(_ next: ProcessorState) {
    state = next
    deadline = next.kind.limit.map { world.now + $0 }
  }

  /// The same state with other contents: its limit goes on.
  func hold(_ next: ProcessorState) {
    assert(next.kind == state.kind, "another state is entered")
    state = next
  }

  var isLate: Bool { deadline.map(isOver) ?? false }

  /// Whether a wait until `end` has lasted long enough. Time in which this process itself stood still does not count.
  func isOver(_ end: ContinuousClock.Instant) -> Bool { world.now > end && world.now >= graceEnd }

  private func noteStandstill() {
    if world.now - lastPoll > .seconds(2) { graceEnd = world.now + .milliseconds(500) }
    lastPoll = world.now
  }

  /// True while somebody waits for the callback or for a job: then `poll` is called often.
  package var isBusy: Bool {
    !pending.isEmpty || !settling.isEmpty || change != nil || !closing.isEmpty || !periodRequests.isEmpty
      || deadline != nil
  }

  /// That setting is in force, and nothing else is on its way.
  package func isSettled(at setting: Setting) -> Bool {
    pending.isEmpty && change == nil && setting == wanted && setting == inForce
  }

  /// Nothing stands in the way of a change.
  package var isFree: Bool { state.kind == .live && change == nil }

  package var isStopped: Bool { state.kind == .stopped }
  package var isStopping: Bool { state.kind == .stopping || isStopped }

  // MARK: Once per turn of the control thread

  /// Hears what happened, and goes on where something ended or took too long.
  package func poll() {
    noteStandstill()
    if let client, state.isInGraph {
      for report in client.drainReports() { hear(report) }
      if let reason = client.lossReason { leaveServer(reason) }
    }
    expireChanges()
    switch state {
    case .absent, .opening, .joining, .preparing, .unusable, .leaving: pollServer()
    case .openingTake, .startingTake, .endingTake: pollTake()
    case .openingPlayback, .endingPlayback: pollPlayback()
    case .fadingOut: pollFadeOut()
    case .stopping: pollStop()
    case .live, .recording, .playing, .stranded, .stopped: break
    }
    pollChange()
    pollClosing()
    pollPeriodRequests()
    pollGraph()
  }

  private func hear(_ report: Report) {
    switch report {
    case .applied(let ticket, _):
      if case .fadingOut(let change, let engine, let filters, ticket) = state {
        return exchange(change, engine, filters)
      }
      guard let ended = pending.removeValue(forKey: ticket) else { return }
      let old = inForce
      inForce = ended.setting
      filtersInForce = filters
      tellOfChange(from: old, to: inForce)
      if let request = ended.request { answer(request, changeFrom: old) }
    case .superseded(let ticket):
      pending.removeValue(forKey: ticket)?.request?.fail(
        .failed, "superseded by a newer change before it could begin; see: pinna status")
    case .refused(let ticket, _):
      guard let ended = pending.removeValue(forKey: ticket) else { return }
      if ended.setting == wanted { wanted = pending.max { $0.key < $1.key }?.value.setting ?? inForce }
      ended.request?.answer(.failed(Failure(.refused, recordingReason)))
    case .takeBegan(let ticket, _): takeBegan(ticket)
    case .takeEnded(let ticket, _, _), .noTake(let ticket): takeEnded(ticket)
    case .playbackEnded(let ticket): playbackEnded(ticket)
    case .released, .convolverReplaced: break
    }
  }

  // MARK: Changes

  /// Crossfades to `setting`, of the device in use; `request` hears how that ended.
  func post(_ setting: Setting, _ request: Request?, isRestoring: Bool = false) throws {
    let ticket = try clientInGraph().change(to: setting, isRestoring: isRestoring)
    pending[ticket] = PendingChange(setting: setting, deadline: world.now + .seconds(3), request: request)
    wanted = setting
  }

  /// The callback has not answered in time: no period runs. What stands in its queue still comes when one does.
  private func expireChanges() {
    for (ticket, change) in pending where change.request != nil && isOver(change.deadline) {
      pending[ticket]?.request = nil
      change.request?.fail(.failed, Self.stalled + "; the change comes into force when it does")
    }
  }

  static let stalled = "the JACK server runs no periods"

  /// Nothing comes from the callback that was asked any more.
  func answerPending(_ status: ExitStatus, _ sentence: String) {
    let waiting = pending.sorted { $0.key < $1.key }.compactMap(\.value.request)
    pending = [:]
    wanted = inForce
    for request in waiting { request.fail(status, sentence) }
  }

  var recordingReason: String {
    "recording \(state.take?.take.path ?? "a take"): nothing may change until it ends; stop it with: pinna record stop"
  }

  // MARK: What is refused where

  /// Refuses what would change something, or begin something, in a state that does not allow it.
  func refuseOutsideGraph() throws(Failure) {
    switch state.kind {
    case .stopping, .stopped:
      throw Failure(.notRunning, "Pinna is being stopped; start it again with: pinna run")
    case .absent, .opening, .joining, .preparing, .unusable, .leaving, .stranded:
      throw Failure(.noServer, rejoin?.sentence(state) ?? "there is no JACK server")
    default: break
    }
  }

  /// The client whose callback runs our engine.
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

  /// While the outputs are silent for a change of device: for three seconds at most.
  func refuseDuringFadeOut() throws(Failure) {
    if case .fadingOut(let change, _, _, _) = state {
      throw Failure(
        .failed, "the device \(change.setting.device.name) is just taking over; try again in a moment")
    }
  }
}
