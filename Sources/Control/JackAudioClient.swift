import Acoustics
import Foundation
import JackClient
import Realtime
import Recording
import Rendering
import Synchronization

/// A JACK client with the engine of one device after another.
///
/// Threads: the control thread calls everything that is no initialiser; what waits for the server runs on the worker.
final class JackAudioClient: AudioClient {
  private let array: ArrayClient
  private let options: JackWorld.Options
  private let memory: ConnectionMemory
  private let worker: Worker
  private let loss: Loss
  /// Whose engine the callback runs.
  private let inUse = Mutex<JackEngine?>(nil)
  private let news = Mutex<[GraphNews]>([])
  /// Looks at the graph, for the ports that the outputs are to be connected to.
  private let looks = LatestRequest<[String]>()
  /// Closes the client; nil until that is asked for.
  private let closed = Mutex<Job<Bool>?>(nil)
  /// Microphones that `run --connect` found no capture port for.
  private let unconnected = Mutex<[String]>([])

  /// Why the server has gone, from JACK's notification thread.
  private final class Loss: Sendable {
    let reason = Mutex<String?>(nil)
  }

  /// Opens the client; on a job's thread, because libjack waits for the server.
  init(_ options: JackWorld.Options, events: ControllerEvents, memory: ConnectionMemory) throws {
    self.options = options
    self.memory = memory
    let loss = Loss()
    self.loss = loss
    worker = try Worker("pinna graph")
    array = try ArrayClient(
      name: options.name, server: options.server,
      onShutdown: { reason in
        loss.reason.withLock { $0 = $0 ?? reason }
        events.wakeUp()
      }, onGraphChange: events.graphChanged)
  }

  // MARK: What it tells

  var sampleRate: Int { array.sampleRate }
  var lossReason: String? { loss.reason.withLock { $0 } }
  var periodsRun: Int { array.periodsRun }
  var capturePorts: [String] { array.physicalCapturePorts }

  var readings: Readings {
    var readings = Readings()
    readings.period = array.period
    readings.dspLoad = array.dspLoad
    readings.xruns = array.xruns
    readings.lacksRealtime = array.lacksRealtime
    guard let used = inUse.withLock({ $0 }) else { return readings }
    let names = used.filters.bank.microphones
    readings.microphones = names
    readings.latencyFrames = used.filters.bank.delayFrames
    readings.statistics = used.engine.statistics
    readings.levels = used.engine.levels
    readings.mutedMicrophones = names.indices.filter(used.engine.isMuted).map { names[$0] }
    readings.preRollSeconds =
      Double(used.engine.preRoll.capacityFrames) / Double(used.filters.bank.sampleRate)
    if let fault = ArrayClient.metadataFault { readings.complaints.append(fault) }
    let open = unconnected.withLock { $0 }
    if !open.isEmpty {
      readings.complaints.append("too few capture ports: not connected are \(open.joined(separator: ", "))")
    }
    return readings
  }

  /// What a take with `setting` is to be.
  func plan(_ options: TakeOptions, _ setting: Setting) -> TakePlan {
    let used = inUse.withLock { $0 }!
    return TakePlan(
      outputs: setting.selection.polarPattern.channels, sampleRate: array.sampleRate, options: options,
      setup: TakeSetup(setting, used.filters.bank), preRoll: used.engine.preRoll)
  }

  // MARK: Engines

  func prepare(_ filters: any DeviceFilters, for device: Device) -> Job<any PreparedEngine> {
    let sets = filters as! FilterSets
    return worker.job { [self] in
      let engine = try sets.makeEngine(
        preRollSeconds: options.preRollSeconds, instructionSet: options.instructionSet)
      let ports = try array.prepare(
        engine, microphones: sets.bank.microphones, group: device.title, delayFrames: sets.bank.delayFrames)
      if !array.isActive {
        array.adopt(ports)
        try array.activate()
        if options.connect, !memory.hasConnected.load(ordering: .relaxed) {
          connectMicrophones(of: device)
          array.connectOutputsToHardware()
          // A server that went meanwhile made nothing of it.
          if lossReason == nil { memory.hasConnected.store(true, ordering: .relaxed) }
        }
      }
      return JackEngine(engine: engine, filters: sets, device: device, ports: ports)
    }
  }

  func adopt(_ prepared: any PreparedEngine) {
    let prepared = prepared as! JackEngine
    let isFirst = inUse.withLock { used in
      defer { used = prepared }
      return used == nil
    }
    if isFirst { return }
    array.adopt(prepared.ports)
    worker.run { [self] in
      connectMicrophones(of: prepared.device)
      array.releaseRetired()
    }
  }

  /// The worker: to the capture ports that the device names, or, with `run --connect`, to the physical ones in order.
  private func connectMicrophones(of device: Device) {
    let isInOrder = device.capturePorts.isEmpty
    let sources = !isInOrder ? device.capturePorts : options.connect ? array.physicalCapturePorts : []
    var seen = memory.connections.withLock { $0 }
    array.connectMicrophones(to: sources, respectsOthers: isInOrder, &seen.placement, &seen.wiring)
    memory.store(seen)
    let open = isInOrder && options.connect ? Array(array.microphones.dropFirst(sources.count)) : []
    unconnected.withLock { $0 = open }
  }

  func discard(_ prepared: any PreparedEngine) {
    let prepared = prepared as! JackEngine
    // A retry may wait behind it that needs ports of the same names.
    worker.runNext { [array] in array.discard(prepared.ports) }
  }

  /// The same job however often it is asked for.
  func close() -> Job<Bool> {
    closed.withLock { closed in
      // One that failed at once, for want of a thread, is tried again.
      if let job = closed, (try? job.result?.get()) != nil || job.result == nil { return job }
      let job = leave()
      closed = job
      return job
    }
  }

  var closingFault: String? { ArrayClient.metadataFault }

  private func leave() -> Job<Bool> {
    memory.loseAll(array.wantedConnections)
    return Job.start("pinna leaves") { [self] _ in
      guard array.close() else { throw Failure(.failed, "libjack does not return") }
      return true
    }
  }

  // MARK: The callback's queue

  private var engine: JackEngine {
    get throws {
      guard let used = inUse.withLock({ $0 }) else { throw Failure(.failed, "no engine is in use yet") }
      return used
    }
  }

  func change(to setting: Setting, isRestoring: Bool) throws -> Ticket {
    let used = try engine
    return try used.engine.change(
      to: used.filters.filters(for: setting.selection, of: setting.device), gain: setting.amplitude,
      isRestoring: isRestoring)
  }

  func fadeOut(from setting: Setting) throws -> Ticket {
    let used = try engine
    return try used.engine.change(
      to: used.filters.filters(for: setting.selection, of: setting.device), gain: 0)
  }

  func beginTake(into ring: TakeRing) throws -> Ticket { try engine.engine.beginTake(into: ring) }
  func endTake() -> Ticket { (try? engine.engine.endTake()) ?? .next() }
  func beginPlayback(of ring: PlaybackRing) throws -> Ticket { try engine.engine.beginPlayback(of: ring) }
  func endPlayback() { try? engine.engine.endPlayback() }
  func drainReports() -> [Report] { (try? engine.engine.drainReports()) ?? [] }

  // MARK: The graph

  func look(_ setting: Setting) -> Int {
    let target = OutputRoute.target(of: setting, monitor: options.monitor).ports
    return looks.post(target, on: worker) { [self] target, number in
      guard lossReason == nil else { return }
      var found = array.look(memory, target)
      found.look = number
      news.withLock { news in
        // Nobody reads them while the processor has no graph.
        if news.count < 64 { news.append(found) }
      }
    }
  }

  func takeNews() -> [GraphNews] {
    news.withLock { news in
      defer { news = [] }
      return news
    }
  }

  func requestPeriod(_ frames: Int) -> Job<Int> { worker.job { [array] in array.requestPeriod(frames) } }
}

/// An engine with its ports, in use or about to be.
final class JackEngine: PreparedEngine {
  let engine: Engine
  let filters: FilterSets
  let device: Device
  let ports: PreparedPorts

  init(engine: Engine, filters: FilterSets, device: Device, ports: PreparedPorts) {
    self.engine = engine
    self.filters = filters
    self.device = device
    self.ports = ports
  }
}

extension ArrayClient {
  /// The worker: compares connections with what they should be, and mends them.
  fileprivate func look(_ memory: ConnectionMemory, _ target: [String]) -> GraphNews {
    var news = GraphNews()
    releaseRetired()
    // Calls into libjack may wait for the server: not under a lock.
    var seen = memory.connections.withLock { $0 }
    news.events = tend(&seen.wiring)
    let (connect, disconnect, isNew) = seen.route.follow(target)
    for wire in disconnect {
      seen.wiring.forget(wire)
      disconnectOutput(wire)
    }
    for wire in connect {
      switch connectOutput(wire) {
      case .made: seen.route.hasMade(wire)
      case .wasThere: break
      case .noPort: news.missingTargets.append(wire.peer)
      }
    }
    if isNew { news.newTarget = target }
    news.connections = seen.wiring.connections
    news.lost = seen.wiring.lost
    news.capturePorts = physicalCapturePorts
    memory.store(seen)
    return news
  }
}
