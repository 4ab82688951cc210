import Acoustics
import Foundation
import JackClient
import Realtime
import Recording
import Session

/// The running processor: a JACK client with its engine, what is set, and the take.
///
/// Thread: one control thread calls everything here (`Controller.run`). Requests that the callback must answer
/// are kept under their tickets until `poll` hears the report.
public final class Processor {
  public typealias Reply = (Answer) -> Void

  let library: PresetLibrary
  /// Where the server has gone, the one that was in its graph, closed.
  private(set) var client: ArrayClient
  private let openClient: () throws(JackError) -> ArrayClient
  /// How far the way back into a graph is; nil while we are in one.
  var rejoin: Rejoin?
  var wiring = Wiring()
  var warnings = Warnings()
  /// When the graph and the levels are looked at again.
  var nextLook = ContinuousClock.now
  /// One line for whoever watches the processor.
  let warn: (String) -> Void
  /// Tells whoever listens what happened.
  var notify: (EngineEvent) -> Void = { _ in }
  /// What was told last of what may change by itself.
  var seen = SeenGraph()
  /// Microphones that were to be connected to the hardware, and found no port there.
  public private(set) var unconnected: [String] = []
  private let preRollSeconds: Int
  private let instructionSet: InstructionSet
  private(set) var engine: Engine
  private(set) var sets: FilterSets
  /// What sounds, or fades in.
  private(set) var inForce: Setting
  /// What was accepted last: in force, or on its way.
  private(set) var wanted: Setting
  var take: TakeWriter?
  /// The first incomplete one: `run` ends with 7 for it, however well later ones went.
  var incompleteTake: TakeWriter.Result?
  /// Who waits for the take's end, and until when the callback may take its time.
  var finishing: (reply: Reply, deadline: ContinuousClock.Instant)?
  var swap: DeviceSwap?
  var playback: PlaybackState?
  var output: OutputRoute
  private var pending: [UInt64: Pending] = [:]

  /// A request that waits for the callback.
  private struct Pending {
    let purpose: Purpose
    let deadline: ContinuousClock.Instant
    var reply: Reply?
  }

  enum Purpose {
    case setting(Setting)
    /// Silence, before another device takes over.
    case fadeOut
    case takeBegin
    case takeEnd
  }

  /// Opens the JACK client, installs the engine, joins the graph.
  /// - Parameter monitor: ports that the outputs go to, left and right.
  public init(
    name: String, server: String?, setting: Setting, library: PresetLibrary, connect: Bool,
    preRollSeconds: Int = 0, instructionSet: InstructionSet = .best, monitor: [String] = [],
    events: ControllerEvents,
    progress: @escaping @Sendable (Double) -> Void,
    warn: @escaping (String) -> Void
  ) throws {
    self.library = library
    self.warn = warn
    self.preRollSeconds = preRollSeconds
    output = OutputRoute(monitor: monitor)
    self.instructionSet = instructionSet
    openClient = { () throws(JackError) in
      try ArrayClient(
        name: name, server: server, onShutdown: events.serverGone, onGraphChange: events.graphChanged)
    }
    client = try openClient()
    sets = try FilterSets(device: setting.device, sampleRate: client.sampleRate, progress: progress)
    // Before anything of ours is in the graph.
    _ = try sets.filters(for: setting.selection, of: setting.device)
    engine = sets.makeEngine(preRollSeconds: preRollSeconds, instructionSet: instructionSet)
    inForce = setting
    wanted = setting
    try client.install(engine, of: setting.device, sets)
    try client.activate()
    try post(setting, reply: nil)
    routeOutputs()
    if connect { unconnected = client.connectToHardware() }
    tellOfPreRoll()
  }

  /// True while a request waits for the callback.
  var isBusy: Bool { !pending.isEmpty || finishing != nil || swap != nil }

  /// That setting is in force, and nothing else is on its way.
  func isSettled(at setting: Setting) -> Bool { pending.isEmpty && setting == wanted && setting == inForce }

  // MARK: Requests

  /// Several changes at once, as words: one crossfade, all or nothing. Another input, or another device's preset,
  /// takes over in silence.
  func set(_ changes: [Change], reply: @escaping Reply) throws {
    let setting = try target(of: changes)
    // Another device has another engine, and mute is for everything that leaves.
    if playback != nil, setting.device != wanted.device || setting.muted { try stopPlayback(reply: nil) }
    if setting.device == wanted.device {
      try post(setting, reply: reply)
    } else {
      swap = DeviceSwap(to: setting, sampleRate: client.sampleRate, reply: reply)
    }
  }

  /// What `changes` would make of what is wanted now.
  /// - Throws: where they are refused, unknown or unsupported.
  func target(of changes: [Change]) throws -> Setting {
    try refuseDuringTake()
    try refuseDuringSwap()
    var setting = wanted
    if let name = changes.last(where: { $0.key == Change.preset })?.value {
      let preset = try library.preset(named: name)
      setting = Setting(preset: preset, device: try library.device(named: preset.device))
      setting.muted = wanted.muted
      setting.output = wanted.output
    }
    if let uid = changes.last(where: { $0.key == Change.input })?.value {
      setting.choose(try input(uid, of: setting))
    }
    try setting.apply(changes.filter { ![Change.preset, Change.input].contains($0.key) })
    if setting.device == wanted.device {
      _ = try sets.filters(for: setting.selection, of: setting.device)
    } else {
      _ = try setting.device.filterCase(for: setting.selection)
    }
    return setting
  }

  /// Tells everyone who still waits for the callback that it will not answer.
  func giveUp(_ answer: Answer) {
    let waiting = pending.values.compactMap(\.reply) + [swap?.reply].compactMap { $0 }
    pending = [:]
    swap = nil
    for reply in waiting { reply(answer) }
  }

  func close() { client.close() }

  // MARK: Answers

  /// Hears the callback's reports and answers those who wait for them.
  func poll() {
    for report in engine.takeReports() { hear(report) }
    for (ticket, waiting) in pending where ContinuousClock.now > waiting.deadline { expire(ticket, waiting) }
    pollSwap()
    pollTake()
    pollServer()
    pollGraph()
  }

  /// The callback has not answered in time: no period runs. What was asked for may still come when one does.
  private func expire(_ ticket: UInt64, _ waiting: Pending) {
    let stalled = Answer(.failed, "the JACK server runs no periods; try again when it does")
    switch waiting.purpose {
    case .setting, .takeEnd:
      guard let reply = waiting.reply else { return }
      pending[ticket]?.reply = nil
      reply(stalled)
    case .fadeOut:
      swap?.reply(stalled)
      swap = nil
    case .takeBegin:
      pending[ticket] = nil
      cancelTake()
      waiting.reply?(stalled)
    }
  }

  private func hear(_ report: Report) {
    switch report {
    case .applied(let ticket, _):
      guard let ended = pending.removeValue(forKey: ticket.number) else { return }
      switch ended.purpose {
      case .setting(let setting):
        tellOfChange(from: inForce, to: setting)
        inForce = setting
        routeOutputs()
        ended.reply?(Answer(.done, json(ChangeReport(setting))))
      case .fadeOut: install()
      case .takeBegin, .takeEnd: break
      }
    case .superseded(let ticket):
      let ended = pending.removeValue(forKey: ticket.number)
      ended?.reply?(Answer(.failed, "superseded by a newer change before it could begin; see: pinna status"))
    case .refused(let ticket, _):
      let ended = pending.removeValue(forKey: ticket.number)
      wanted = inForce
      ended?.reply?(Answer(.refused, recordingReason))
    case .takeBegan(let ticket, _):
      guard let ended = pending.removeValue(forKey: ticket.number), let take else { return }
      ended.reply?(Answer(.done, json(TakeAnswer(take, muted: inForce.muted))))
      notify(EngineEvent(.takeBegan, "recording \(take.path ?? "")"))
    case .takeEnded(let ticket, let begun, _):
      pending[ticket.number] = nil
      let unbegun = pending.removeValue(forKey: begun.number)
      unbegun?.reply?(Answer(.failed, "the take was stopped before its first frame; start another"))
    case .noTake(let ticket):
      pending[ticket.number] = nil
    case .playbackEnded(let ticket):
      if playback?.ticket == ticket { endPlayback() }
    case .released, .convolverReplaced:
      break
    }
  }

  // MARK: Changes

  /// Crossfades to `setting`; `reply` hears how that ended.
  func post(_ setting: Setting, reply: Reply?) throws {
    let filters = try sets.filters(for: setting.selection, of: setting.device)
    try change(to: filters, gain: setting.amplitude, .setting(setting), reply)
    wanted = setting
  }

  func change(to filters: FilterSet, gain: Float, _ purpose: Purpose, _ reply: Reply?) throws {
    keep(try engine.change(to: filters, gain: gain), purpose, reply)
  }

  /// Keeps a request until the callback has answered it.
  func keep(_ ticket: Ticket, _ purpose: Purpose, _ reply: Reply?) {
    pending[ticket.number] = Pending(purpose: purpose, deadline: Self.deadline(), reply: reply)
  }

  static func deadline() -> ContinuousClock.Instant { .now + .seconds(3) }

  func makeEngine(_ sets: FilterSets) -> Engine {
    sets.makeEngine(preRollSeconds: preRollSeconds, instructionSet: instructionSet)
  }

  /// Another client in the server's graph; it must be closed before the next.
  func newClient() throws(JackError) -> ArrayClient { try openClient() }

  func adopt(_ newClient: ArrayClient) { client = newClient }

  /// What was asked for and not answered is not wanted any more.
  func keepWhatIsInForce() { wanted = inForce }

  /// The callback runs another engine from now on.
  func adopt(_ newEngine: Engine, _ newSets: FilterSets) {
    endPlayback()
    engine = newEngine
    sets = newSets
    tellOfPreRoll()
  }

  /// Where takes cannot reach back as far as was asked.
  private func tellOfPreRoll() {
    let kept = Double(engine.preRoll.capacityFrames) / Double(sets.bank.sampleRate)
    guard kept < Double(preRollSeconds) else { return }
    warn(
      String(
        format: "--pre-roll: takes reach back %.1f s, not %d s: more of %d channels at %d Hz passes 256 MB",
        kept, preRollSeconds, engine.preRoll.channels, sets.bank.sampleRate))
  }

  private var recordingReason: String {
    "recording \(take?.path ?? "a take"): nothing may change until it ends; stop it with: pinna record stop"
  }

  func refuseDuringTake() throws(Failure) {
    if take != nil { throw Failure(.refused, recordingReason) }
  }

  /// While another device, or the server, is on its way.
  func refuseDuringSwap() throws(Failure) {
    if let rejoin { throw Failure(.noServer, rejoin.sentence) }
    if swap != nil { throw Failure(.failed, "another device is just taking over; try again in a moment") }
  }
}
