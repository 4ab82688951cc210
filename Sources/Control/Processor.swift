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
  let client: ArrayClient
  private(set) var engine: Engine
  private(set) var sets: FilterSets
  /// What sounds, or fades in.
  private(set) var inForce: Setting
  /// What was accepted last: in force, or on its way.
  private(set) var wanted: Setting
  private(set) var take: TakeWriter?
  var lastTake: TakeWriter.Result?
  private var pending: [UInt64: Pending] = [:]
  private var swap: Swap?
  /// Who waits for the take's end, and until when the callback may take its time.
  private var finishing: (reply: Reply, deadline: ContinuousClock.Instant)?

  /// A request that waits for the callback.
  private struct Pending {
    enum Purpose {
      case setting(Setting)
      /// Silence, before another device takes over.
      case fadeOut
      case takeBegin
      case takeEnd
    }
    let purpose: Purpose
    let deadline: ContinuousClock.Instant
    var reply: Reply?
  }

  /// Another device is taking over.
  private struct Swap {
    let setting: Setting
    let sets: FilterSets
    let reply: Reply
  }

  /// Opens the JACK client, installs the engine, joins the graph.
  public init(
    name: String, server: String?, setting: Setting, library: PresetLibrary, connect: Bool,
    progress: @escaping @Sendable (Double) -> Void, onShutdown: @escaping @Sendable (String) -> Void
  ) throws {
    self.library = library
    client = try ArrayClient(name: name, server: server, onShutdown: onShutdown)
    sets = try FilterSets(device: setting.device, sampleRate: client.sampleRate, progress: progress)
    engine = sets.makeEngine()
    inForce = setting
    wanted = setting
    let filters = try sets.filters(for: setting.selection, of: setting.device)
    try client.install(engine, microphones: sets.bank.microphones, delayFrames: sets.bank.delayFrames)
    try client.activate()
    try post(setting, filters: filters, reply: nil)
    if connect { client.connectToHardware() }
  }

  /// True while a request waits for the callback.
  var isBusy: Bool { !pending.isEmpty || finishing != nil }

  // MARK: Requests

  /// Several changes at once, as words: one crossfade, all or nothing.
  func set(_ changes: [(key: String, value: String)], reply: @escaping Reply) throws {
    try refuseDuringTake()
    try refuseDuringSwap()
    var setting = wanted
    try setting.apply(changes)
    try post(setting, filters: sets.filters(for: setting.selection, of: setting.device), reply: reply)
  }

  func usePreset(_ name: String, reply: @escaping Reply) throws {
    try refuseDuringTake()
    try refuseDuringSwap()
    let preset = try library.preset(named: name)
    let device = try library.device(named: preset.device)
    var setting = Setting(preset: preset, device: device)
    setting.muted = wanted.muted
    if device == wanted.device {
      try post(setting, filters: sets.filters(for: setting.selection, of: device), reply: reply)
      return
    }
    let newSets = try FilterSets(device: device, sampleRate: client.sampleRate)
    _ = try newSets.filters(for: setting.selection, of: device)
    let current = try sets.filters(for: wanted.selection, of: wanted.device)
    let ticket = try change(to: current, gain: 0)
    pending[ticket.number] = Pending(purpose: .fadeOut, deadline: deadline(), reply: nil)
    swap = Swap(setting: setting, sets: newSets, reply: reply)
  }

  func startTake(folder: TakeFolder, reply: @escaping Reply) throws {
    try refuseDuringTake()
    try refuseDuringSwap()
    let writer: TakeWriter
    do {
      writer = try TakeWriter(
        folder: folder, preset: wanted.preset, channels: wanted.selection.polarPattern.channels,
        sampleRate: client.sampleRate)
    } catch {
      throw Failure(.failed, error.description)
    }
    do {
      let ticket = try engine.beginTake(into: writer.ring)
      pending[ticket.number] = Pending(purpose: .takeBegin, deadline: deadline(), reply: reply)
    } catch {
      writer.abandon()
      throw Failure(.failed, error.description)
    }
    take = writer
  }

  func stopTake(reply: @escaping Reply) throws {
    guard take != nil, finishing == nil else {
      throw Failure(.failed, "nothing is being recorded; start with: pinna record start")
    }
    let ticket = try engine.endTake()
    pending[ticket.number] = Pending(purpose: .takeEnd, deadline: deadline(), reply: nil)
    finishing = (reply, deadline())
  }

  /// Ends a take whatever the server does; what is in the ring reaches the disk.
  func finishTake() -> TakeWriter.Result? {
    guard let take else { return nil }
    if client.isServerGone { take.abandon() } else { _ = try? engine.endTake() }
    let end = ContinuousClock.now + .seconds(2)
    while !take.isFinished, ContinuousClock.now < end { usleep(10_000) }
    take.abandon()
    finish(take, finishing?.reply)
    return lastTake
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
    for (ticket, waiting) in pending where waiting.reply != nil && ContinuousClock.now > waiting.deadline {
      pending[ticket]?.reply = nil
      waiting.reply?(Answer(.failed, "the JACK server runs no periods; the change waits until it does"))
    }
    if let finishing, let take {
      if take.isFinished {
        finish(take, finishing.reply)
      } else if ContinuousClock.now > finishing.deadline, !take.ring.isFinished {
        // No period has come to end it: what is in the ring is the take.
        take.abandon()
      }
    }
  }

  private func hear(_ report: Report) {
    switch report {
    case .applied(let ticket, _):
      guard let ended = pending.removeValue(forKey: ticket.number) else { return }
      switch ended.purpose {
      case .setting(let setting):
        inForce = setting
        ended.reply?(Answer(.done, json(ChangeReport(setting))))
      case .fadeOut: completeSwap()
      case .takeBegin, .takeEnd: break
      }
    case .superseded(let ticket):
      let ended = pending.removeValue(forKey: ticket.number)
      ended?.reply?(Answer(.failed, "superseded: a newer change came before this one could begin"))
    case .refused(let ticket, _):
      let ended = pending.removeValue(forKey: ticket.number)
      wanted = inForce
      ended?.reply?(Answer(.refused, recordingReason))
    case .takeBegan(let ticket, _):
      guard let take else { return }
      let ended = pending.removeValue(forKey: ticket.number)
      ended?.reply?(Answer(.done, json(TakeAnswer(take: take.path, channels: take.channels))))
    case .takeEnded(let ticket, let begun, _):
      pending[ticket.number] = nil
      let unbegun = pending.removeValue(forKey: begun.number)
      unbegun?.reply?(Answer(.failed, "the take was stopped before its first frame; start another"))
    case .noTake(let ticket):
      pending[ticket.number] = nil
    case .released, .convolverReplaced:
      break
    }
  }

  private func finish(_ take: TakeWriter, _ reply: Reply?) {
    let result = take.finish()
    lastTake = result
    self.take = nil
    finishing = nil
    if let fault = result.fault {
      reply?(Answer(.incompleteTake, "the take \(result.path) is incomplete: \(fault)"))
    } else {
      reply?(
        Answer(.done, json(TakeAnswer(take: result.path, channels: take.channels, frames: result.frames))))
    }
  }

  // MARK: Changes

  private func post(_ setting: Setting, filters: FilterSet, reply: Reply?) throws {
    let ticket = try change(to: filters, gain: setting.amplitude)
    pending[ticket.number] = Pending(purpose: .setting(setting), deadline: deadline(), reply: reply)
    wanted = setting
  }

  private func change(to filters: FilterSet, gain: Float) throws(Failure) -> Ticket {
    do { return try engine.change(to: filters, gain: gain) } catch {
      throw Failure(.failed, error.description)
    }
  }

  /// The outputs are silent: the other device's microphones and engine take over, and fade in.
  private func completeSwap() {
    guard let swap else { return }
    self.swap = nil
    do {
      let newEngine = swap.sets.makeEngine()
      try client.install(
        newEngine, microphones: swap.sets.bank.microphones, delayFrames: swap.sets.bank.delayFrames)
      engine = newEngine
      sets = swap.sets
      let filters = try sets.filters(for: swap.setting.selection, of: swap.setting.device)
      try post(swap.setting, filters: filters, reply: swap.reply)
    } catch {
      swap.reply(Answer(.failed, "the device could not be changed: \(error)"))
      // What sounded before sounds again.
      if let filters = try? sets.filters(for: inForce.selection, of: inForce.device) {
        try? post(inForce, filters: filters, reply: nil)
      }
    }
  }

  private func deadline() -> ContinuousClock.Instant { .now + .seconds(3) }

  private var recordingReason: String {
    "recording \(take?.path ?? "a take"): nothing may change until it ends; stop it with: pinna record stop"
  }

  private func refuseDuringTake() throws(Failure) {
    if take != nil { throw Failure(.refused, recordingReason) }
  }

  private func refuseDuringSwap() throws(Failure) {
    if swap != nil { throw Failure(.failed, "another device is just taking over; try again in a moment") }
  }

  // MARK: Status

  var status: StatusReport {
    let levels = engine.levels
    let statistics = engine.statistics
    let setting = inForce
    return StatusReport(
      state: take == nil ? "stopped" : "recording", preset: setting.preset, device: setting.device.name,
      dataSource: setting.selection.dataSource, polarPattern: setting.selection.polarPattern,
      inputOrientation: setting.selection.inputOrientation,
      preferred: .init(
        dataSource: wanted.selection.dataSource, polarPattern: wanted.selection.polarPattern,
        inputOrientation: wanted.selection.inputOrientation),
      layout: setting.layout, inputChannels: setting.selection.polarPattern.channels,
      gainDB: setting.gain.value, muted: setting.muted, microphones: sets.bank.microphones.count,
      sampleRate: client.sampleRate, period: client.period, latencyFrames: sets.bank.delayFrames,
      dspLoad: client.dspLoad, xruns: client.xruns,
      levels: .init(
        microphones: zip(sets.bank.microphones, levels).map { .init($0, $1) },
        outputs: zip(ArrayClient.outputNames, levels.suffix(2)).map { .init($0, $1) }),
      rejectedSamples: statistics.rejectedSamples, clippedSamples: statistics.clippedSamples,
      unpreparedPeriods: statistics.unpreparedPeriods,
      take: take.map { .init(path: $0.path, frames: $0.frames, channels: $0.channels) })
  }
}

/// The answer to every change (S14).
struct ChangeReport: Encodable {
  let preset: String
  let dataSource: String
  let polarPattern: PolarPattern
  let inputOrientation: InputOrientation
  let layout: StereoLayout?
  let inputChannels: Int

  init(_ setting: Setting) {
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
  }
}

struct TakeAnswer: Encodable {
  let take: String
  let channels: Int
  var frames: Int?
}
