import Acoustics
import JackClient
import Messages
import Processor
import Realtime
import Recording
import Rendering
import Settings
import Synchronization
import Threads

/// A JACK client that runs the engine of the current device.
///
/// Thread: control thread, except for the initialiser and where stated otherwise; `discard` and `close` also on the
/// thread of an abandoned job. Requests that wait for the server run on `worker`.
final class JackAudioClient: AudioClient {
  let array: ArrayClient
  let options: JackWorld.Options
  private let memory: ConnectionMemory
  let worker: Worker
  /// Where each seat is, in the device frame, by name.
  private let places = Locked<[String: Direction]>([:])
  /// Written by JACK's notification thread.
  private let clientLoss: Locked<ClientLoss?>
  /// The engine that the callback runs; nil before the first.
  private let inUse = Mutex<JackEngine?>(nil)
  /// Where filters come from besides those of the engine.
  let choice = Mutex(FilterChoice())
  private let graphReports = Mutex<[GraphReport]>([])
  /// Graph checks on the worker.
  private let graphChecks = LatestRequest<Setting>()
  /// The job that closes the client; nil before `close`.
  private let closeJob = Mutex<Job<Bool>?>(nil)
  /// Microphones for which `run --connect` found no capture port.
  private let unconnected = Mutex<[String]>([])

  /// Opens the client. Thread: a job's thread, because libjack waits for the server.
  init(_ options: JackWorld.Options, events: ControllerEvents, memory: ConnectionMemory) throws {
    self.options = options
    self.memory = memory
    let loss = Locked<ClientLoss?>(nil)
    clientLoss = loss
    worker = try Worker("pinna graph")
    array = try ArrayClient(
      name: options.name, server: options.server,
      onLoss: { new in
        loss.withLock { $0 = new }
        events.wakeUp()
      }, onGraphChange: events.graphChanged, onSampleRate: { _ in events.wakeUp() })
  }

  // MARK: State

  var sampleRate: Int { array.sampleRate }
  var loss: ClientLoss? { clientLoss.withLock { $0 } }
  var isRetired: Bool { inUse.withLock { $0?.engine.isRetired ?? false } }
  var periodsRun: Int { array.periodsRun }
  var freewheelChanges: Int { array.freewheelChanges }
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
    readings.feedLevels = used.feeds.withLock { $0 }.mapValues {
      used.engine.feedLevels(firstOutput: $0.firstOutput, outputs: $0.outputs)
    }
    readings.adaptation = used.adaptation?.text
    readings.adaptationLoad = used.adaptation?.load
    readings.wind = used.adaptation?.windText(names)
    readings.hasWind = used.adaptation?.hasWind ?? false
    readings.talkers = used.adaptation?.talkers
    readings.talkersText = used.adaptation?.talkersText
    readings.mutedMicrophones = names.indices.filter(used.engine.isMuted).map { names[$0] }
    readings.preRollSeconds =
      Double(used.engine.preRoll.capacityFrames) / Double(used.filters.bank.sampleRate)
    var open = unconnected.withLock { $0 }
    if !open.isEmpty {
      // Somebody may have connected them since.
      let connected = memory.connections.withLock { $0.wiring.connectedPorts }
      open.removeAll(where: connected.contains)
    }
    readings.problems += [options.runMemory?.fault].compactMap(\.self)
    if !open.isEmpty {
      let lack = options.source.map { "too few ports of \($0)" } ?? "too few capture ports"
      readings.problems.append("\(lack); not connected: \(open.joined(separator: ", "))")
    }
    return readings
  }

  var correlation: Float? {
    inUse.withLock { $0 }.flatMap { $0.engine.tap.correlation(frames: $0.filters.bank.sampleRate * 3 / 10) }
  }

  func newestOutputs(_ frames: Int) -> (end: Int, samples: [Float]) {
    inUse.withLock { $0 }?.engine.tap.newest(frames) ?? (0, [])
  }

  func openTake(
    in folder: String?, _ takeOptions: TakeOptions, _ setting: Setting, feeds: [String]
  ) -> any TakeRecording {
    let used = inUse.withLock { $0 }!
    let live = used.feeds.withLock { $0 }
    let recorded = setting.others.compactMap { feed in
      feeds.contains(feed.name)
        ? live[feed.name].map {
          TakeFeed(
            FeedSetup(feed, layout: .init(feed, of: setting.device)), firstOutput: $0.firstOutput,
            preRoll: used.engine.preRoll(ofFeed: $0.number))
        } : nil
    }
    return TakeWriter(
      folder: folder,
      plan: TakePlan(
        outputs: feeds.contains(FeedSetting.main) ? setting.main.selection.polarPattern.outputs : 0,
        feeds: recorded,
        sampleRate: used.filters.bank.sampleRate, options: takeOptions,
        setup: TakeSetup(setting, used.filters.bank, pinna: options.name), preRoll: used.engine.preRoll,
        explain: array.explanations.map { history in
          { @Sendable (time: Range<Int>) in history.cause(of: time) }
        }))
  }

  // MARK: Engines

  func prepare(_ sets: FilterSets, for device: Device) -> Job<any PreparedEngine> {
    worker.job { [self] in
      let engine = try sets.makeEngine(
        preRollSeconds: options.preRollSeconds, instructionSet: options.instructionSet)
      let ports = try array.prepare(
        engine, microphones: sets.bank.microphones, delayFrames: sets.bank.delayFrames)
      if !array.isActive {
        array.adopt(ports)
        try array.activate()
        if options.connectsMicrophones || options.connectsOutputs,
          !memory.hasConnected.load(ordering: .relaxed)
        {
          if options.connectsMicrophones { connectMicrophones(of: device) }
          if options.connectsOutputs { array.connectOutputsToHardware() }
          // If the server has gone meanwhile, the connections were not made.
          if loss == nil { memory.hasConnected.store(true, ordering: .relaxed) }
        }
      }
      return JackEngine(client: self, engine: engine, filters: sets, device: device, ports: ports)
    }
  }

  fileprivate func adopt(_ prepared: JackEngine) {
    let old = inUse.withLock { used in
      defer { used = prepared }
      used?.adaptation?.end()
      return used
    }
    guard let old else { return }
    array.adopt(prepared.ports)
    worker.run { [self] in
      connectMicrophones(of: prepared.device, isNew: old.device != prepared.device)
      array.releaseRetired()
    }
  }

  /// Connects the microphones to the capture ports that the device names; with `run --connect`, to the physical capture
  /// ports of its hardware.
  /// - Parameter isNew: whether another device was in use. Of the same one, what others have disconnected stays so.
  ///
  /// Thread: worker.
  private func connectMicrophones(of device: Device, isNew: Bool = true) {
    let isNamed = !device.capturePorts.isEmpty
    let sources: [String?] =
      isNamed
      ? device.capturePorts : options.connectsMicrophones ? hardwarePorts(of: device).map { $0?.name } : []
    var connections = memory.connections.withLock { $0 }
    array.connectMicrophones(
      to: sources, respectsOthers: !isNamed || !isNew, &connections.placement, &connections.wiring)
    memory.store(connections)
    let open = isNamed ? [] : zip(array.microphones, sources).filter { $1 == nil }.map(\.0)
    unconnected.withLock { $0 = open }
  }

  /// Connects microphones that Pinna has not connected yet to the ports of `run --connect-from`, as far as they exist.
  ///
  /// Thread: worker.
  private func connectMicrophonesToSource() {
    guard let source = options.source else { return }
    var connections = memory.connections.withLock { $0 }
    let names = array.microphones
    guard connections.placement.count < names.count else { return }
    let ports = array.outputPorts(ofClient: source)
    array.connectMicrophones(
      to: ports, respectsOthers: true, &connections.placement, &connections.wiring)
    memory.store(connections)
    unconnected.withLock { $0 = Array(names.dropFirst(ports.count)) }
  }

  var remark: String? {
    guard options.connectsMicrophones, options.connectsOutputs else { return nil }
    func card(_ port: String) -> Substring { port.prefix { $0 != ":" } }
    let wanted = array.wantedConnections
    let outputs = wanted.filter { ArrayClient.outputNames.contains($0.port) }.map { card($0.peer) }
    let microphones = wanted.filter { !ArrayClient.outputNames.contains($0.port) }.map { card($0.peer) }
    guard let shared = Set(outputs).intersection(microphones).min() else { return nil }
    return
      "microphones and outputs are connected to one sound card, \(shared): listen with headphones, because "
      + "loudspeakers would howl; --connect microphones leaves the outputs alone"
  }

  /// The physical capture port of each microphone; nil where there is none.
  ///
  /// Thread: worker.
  private func hardwarePorts(of device: Device) -> [CapturePort?] {
    device.captureWiring(
      from: array.physicalCapturePorts.map {
        CapturePort(name: $0, client: array.clientName(ofPort: $0), aliases: array.aliases(ofPort: $0))
      })
  }

  fileprivate func discard(_ prepared: JackEngine) {
    // Ahead of the queue: a queued retry may need ports of the same names.
    worker.runNext { [array] in array.discard(prepared.ports) }
  }

  func isTaken(_ name: String) -> Job<Bool> {
    Job.start("pinna name") { [array] _ in array.isTaken(name) }
  }

  /// Repeated calls return the same job.
  func close() -> Job<Bool> {
    closeJob.withLock { closeJob in
      // Retry a job that failed immediately because no thread could be started.
      if let job = closeJob, (try? job.result?.get()) != nil || job.result == nil { return job }
      let job = startClosing()
      closeJob = job
      return job
    }
  }

  private func startClosing() -> Job<Bool> {
    let wanted = array.wantedConnections
    memory.markAllLost(wanted)
    return Job.start("pinna leaves") { [self] _ in
      guard array.close() else { throw Failure(.failed, "libjack does not return") }
      // If the server is running, a graph check may have found them again meanwhile.
      memory.markAllLost(wanted)
      return true
    }
  }

  // MARK: The callback's queue

  var engine: JackEngine {
    get throws {
      guard let used = inUse.withLock({ $0 }) else { throw Failure(.failed, "no engine is in use yet") }
      return used
    }
  }

  func change(_ name: String, to setting: Setting, isRestoring: Bool) throws -> Ticket {
    let (used, feed) = (try engine, try played(name, in: setting))
    if !isRestoring { try used.adaptation?.check(feed, number: used.feeds.withLock { $0[name] }?.number) }
    places.withLock { $0 = setting.places }
    used.adaptation?.place(setting.places)
    return try send(feed, try filters(for: feed, in: setting), follows: true, isRestoring: isRestoring)
  }

  /// What a feed plays.
  private func played(_ name: String, in setting: Setting) throws -> FeedSetting {
    guard let feed = setting.played.first(where: { $0.name == name }) else { throw QueueRefusal.noFeed }
    return feed
  }

  /// Posts a crossfade of a feed.
  /// - Parameter follows: whether it follows the sound from then on, as far as its setting says.
  func send(_ feed: FeedSetting, _ filters: FilterSet, follows: Bool, isRestoring: Bool = false) throws
    -> Ticket
  {
    let used = try engine
    guard var live = used.feeds.withLock({ $0[feed.name] }) else { throw QueueRefusal.noFeed }
    live.noteSent(feed, filters, without: choice.withLock { $0.missing })
    let ticket = try used.engine.change(
      feed: live.number, to: feed.base(of: filters), gain: feed.amplitude,
      highPass: feed.highPass.frequency?.value, lineage: live.lineage, isRestoring: isRestoring)
    used.note(live, as: feed.name)
    if follows { adapt(used, feed, live, filters) }
    return ticket
  }

  /// Lets a feed follow the sound from `filters` on, as far as its setting says.
  /// - Parameter live: the feed, with what was sent last.
  func adapt(_ used: JackEngine, _ feed: FeedSetting, _ live: JackEngine.LiveFeed, _ filters: FilterSet) {
    var played = feed
    played.selection = choice.withLock { $0.played(feed.selection) }
    used.adaptation?.follow(
      .init(
        feed: played, device: used.device, whole: filters, places: places.withLock { $0 },
        lineage: live.lineage), feed: live.number)
  }

  func findTalkers(_ isWanted: Bool, lacksMicrophone: Bool) {
    let adaptation = inUse.withLock { $0 }?.adaptation
    adaptation?.setLacksMicrophone(lacksMicrophone)
    adaptation?.find(isWanted || options.findsTalkers)
  }

  func listTalkers(from frame: Int?) {
    inUse.withLock { $0 }?.adaptation?.listTalkers(from: frame)
  }

  func takeTalkers() -> [TalkerChange] {
    inUse.withLock { $0 }?.adaptation?.takeTalkers() ?? []
  }

  func fadeOut(from setting: Setting) throws -> Ticket {
    func silence(_ feed: FeedSetting) throws -> Ticket {
      var silent = feed
      silent.muted = true
      return try send(silent, try filters(for: feed, in: setting), follows: false)
    }
    let feeds = setting.played
    let ticket = try silence(feeds[0])
    for feed in feeds.dropFirst() { _ = try? silence(feed) }
    return ticket
  }

  func use(_ new: FilterChoice) { choice.withLock { $0 = new } }

  func substitute(_ feeds: [String], in setting: Setting) throws -> [String: Ticket] {
    let used = try engine
    var tickets: [String: Ticket] = [:]
    for feed in setting.played where feeds.contains(feed.name) {
      guard var live = used.feeds.withLock({ $0[feed.name] }) else { continue }
      do {
        let filters = try filters(for: feed, in: setting)
        guard feed.isMain || filters !== live.filters else { continue }
        live.noteSent(feed, filters, without: choice.withLock { $0.missing })
        tickets[feed.name] = try used.engine.substitute(
          feed: live.number, feed.base(of: filters), gain: feed.amplitude,
          highPass: feed.highPass.frequency?.value, lineage: live.lineage)
        used.note(live, as: feed.name)
        adapt(used, feed, live, filters)
      } catch  where feed.isMain { throw error } catch { continue }
    }
    return tickets
  }

  /// - Parameter setting: that the feed belongs to; nil for one besides `main`.
  func filters(for feed: FeedSetting, in setting: Setting? = nil) throws -> FilterSet {
    let (used, choice) = (try engine, choice.withLock { $0 })
    if feed.isMain, let microphone = setting?.listening {
      return try choice.filters(listeningTo: microphone, used.filters)
    }
    return try choice.filters(for: feed.selection, of: used.device, used.filters)
  }

  func beginTake(into ring: TakeRing, followingTransport: Bool) throws -> Ticket {
    try engine.engine.beginTake(into: ring, followingTransport: followingTransport)
  }
  func endTake() -> Ticket { (try? engine.engine.endTake()) ?? .next() }
  func beginPlayback(of ring: PlaybackRing) throws -> Ticket { try engine.engine.beginPlayback(of: ring) }
  func endPlayback() { try? engine.engine.endPlayback() }
  func drainMIDI() -> [MIDIMessage] { array.drainMIDI() }
  func drainReports() -> [Report] { (try? engine.engine.drainReports()) ?? [] }

  // MARK: The graph

  func checkGraph(for setting: Setting) -> Int {
    graphChecks.post(setting, on: worker) { [self] setting, number in
      guard loss == nil, closeJob.withLock({ $0 == nil }) else { return }
      connectMicrophonesToSource()
      var report = array.checkGraph(memory, setting, monitor: options.monitor)
      options.runMemory?.keep(RunMemory(setting, memory.connections.withLock { $0.wiring.restorable }))
      report.checkNumber = number
      graphReports.withLock { reports in
        // Bounded: nobody drains the reports while the processor is not in a graph.
        if reports.count < 64 { reports.append(report) }
      }
    }
  }

  func drainGraphReports() -> [GraphReport] {
    graphReports.withLock { reports in
      defer { reports = [] }
      return reports
    }
  }

  func requestPeriod(_ frames: Int) -> Job<Int> { worker.job { [array] in array.requestPeriod(frames) } }
}

/// An engine with its ports, in use or prepared. Immutable; any thread.
final class JackEngine: PreparedEngine {
  let engine: Engine
  let filters: FilterSets
  let device: Device
  let ports: PreparedPorts
  /// Nil if `main` cannot follow the sound.
  let adaptation: LiveAdaptation?
  /// The feeds that the engine plays, by name.
  let feeds = Locked([FeedSetting.main: LiveFeed(number: 0, firstOutput: -2, outputs: 2)])

  /// Notes what was sent to a feed, unless it was removed meanwhile.
  func note(_ live: LiveFeed, as name: String) {
    feeds.withLock { if $0[name]?.number == live.number { $0[name] = live } }
  }

  struct LiveFeed: Sendable {
    /// Among the engine's feeds.
    let number: Int
    /// Counted from the first after main's two.
    let firstOutput: Int
    let outputs: Int
    /// Those of the last change.
    private(set) var filters: FilterSet?
    /// What they were sent for, and the microphones that they do without.
    private var last: (feed: FeedSetting, missing: Set<String>)?
    /// Of what was sent last, as in `Engine.change`.
    private(set) var lineage = 0
    /// So far: the successor of a feed has another one, whatever still arrives for its predecessor.
    private static let lineages = Atomic<Int>(0)

    init(number: Int, firstOutput: Int, outputs: Int) {
      (self.number, self.firstOutput, self.outputs) = (number, firstOutput, outputs)
    }

    /// Notes what is sent to the engine.
    mutating func noteSent(_ feed: FeedSetting, _ filters: FilterSet, without missing: Set<String>) {
      if last.map({ feed.continues($0.feed) && missing == $0.missing }) != true {
        lineage = Self.lineages.wrappingAdd(1, ordering: .relaxed).newValue
      }
      (self.filters, last) = (filters, (feed, missing))
    }
  }

  /// The client that it was prepared on, which holds the engine in use.
  private weak let client: JackAudioClient?

  init(client: JackAudioClient, engine: Engine, filters: FilterSets, device: Device, ports: PreparedPorts) {
    self.client = client
    self.engine = engine
    self.filters = filters
    self.device = device
    self.ports = ports
    adaptation = LiveAdaptation(engine, delayFrames: filters.bank.delayFrames)
  }

  deinit { adaptation?.end() }

  func adopt() { client?.adopt(self) }
  func discard() { client?.discard(self) }
}
