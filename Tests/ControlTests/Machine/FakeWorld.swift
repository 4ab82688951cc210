import Acoustics
import Foundation
import JackClient
import Messages
import Presets
import Processor
import Realtime
import Recording
import Rendering
import Settings
import Threads

/// A world in which nothing happens by itself: a test completes jobs, runs periods and advances the clock.
final class FakeWorld: AudioWorld {
  static let start = ContinuousClock.now

  var now = FakeWorld.start
  private(set) var opening: Job<any AudioClient>?
  private(set) var designs: [(device: Device, rate: Int, job: Job<FilterSets>)] = []
  private(set) var fallbacks: [(device: Device, rate: Int, missing: Set<String>, job: Job<FilterSets>)] =
    []
  /// The filters that are got ready before a microphone fails, the newest last.
  private(set) var preparations: [(microphone: String, job: Job<Void>)] = []
  private var nearbyDesigns: [(device: Device, rate: Int, isGivenUp: Locked<Bool>, job: Job<FilterSets>)] = []
  /// The devices of looks that are designed though nobody waits for them.
  var nearby: [Device] { nearbyDesigns.filter { !$0.isGivenUp.withLock { $0 } }.map(\.device) }
  private(set) var takes: [FakeTake] = []
  private(set) var players: [FakePlayer] = []
  private(set) var clients: [FakeClient] = []

  var client: FakeClient? { clients.last }

  func openClient() -> Job<any AudioClient> {
    precondition(opening == nil, "libjack opens one client at a time")
    precondition(clients.allSatisfy(\.isClosed), "the client before is closed first")
    let job = Job<any AudioClient>.begun()
    opening = job
    return job
  }

  func design(_ device: Device, sampleRate: Int) -> Job<FilterSets> {
    let job = Job<FilterSets>.begun()
    designs.append((device, sampleRate, job))
    return job
  }

  func designNearby(_ device: Device, sampleRate: Int) -> Job<FilterSets> {
    let isGivenUp = Locked(false)
    let job = Job<FilterSets>(onAbandon: { isGivenUp.withLock { $0 = true } })
    _ = job.begin()
    nearbyDesigns.append((device, sampleRate, isGivenUp, job))
    return job
  }

  func fallback(for device: Device, without missing: Set<String>, sampleRate: Int) -> Job<FilterSets> {
    let job = Job<FilterSets>.begun()
    fallbacks.append((device, sampleRate, missing, job))
    return job
  }

  func prepareFallback(for device: Device, without microphone: String, sampleRate: Int) -> Job<Void> {
    let job = Job<Void>.begun()
    preparations.append((microphone, job))
    return job
  }

  fileprivate func openTake() -> FakeTake {
    takes.append(FakeTake())
    return takes.last!
  }

  /// What keeps the machine awake, the newest last.
  private(set) var inhibitors: [FakeInhibitor] = []
  func keepAwake() -> any SleepInhibitor {
    inhibitors.append(FakeInhibitor())
    return inhibitors.last!
  }

  func forgetConnections() -> Int { 3 }
  var restorableConnections: [Wiring.Wire] { [] }
  /// The connections of the latest project.
  private(set) var replacement: [Wiring.Wire]?
  func replaceConnections(with connections: [Wiring.Wire]) { replacement = connections }
  private(set) var name = "pinna"
  func rename(to name: String) { self.name = name }
  var takesFolder: String?

  /// Whether a new client may get periods while the graph of the processor's client stalls.
  var hasSeparateClients = true
  /// The questions whether a new client gets periods, the newest last.
  private(set) var probes: [Job<Bool>] = []

  func probePeriods() -> Job<Bool>? {
    guard hasSeparateClients else { return nil }
    let job = Job<Bool>.begun()
    probes.append(job)
    return job
  }

  func setting(ofPreset name: String) -> Job<Setting> {
    finished(.failure(Failure(.failed, "there is no preset \(name)")))
  }

  func names(of list: NameList, most: Int) -> Job<[String]> { finished(.success([])) }

  func midiSetup(bank: String?) -> Job<MIDISetup> { finished(.success(MIDISetup())) }

  func path(ofTake name: String) -> Job<String> {
    finished(.failure(Failure(.failed, "there is no take \(name)")))
  }

  private func finished<Value>(_ result: Result<Value, Failure>) -> Job<Value> {
    let job = Job<Value>()
    job.finish(result)
    return job
  }

  func openPlayback(_ path: String, sampleRate: Int) -> any TakePlayback {
    players.append(FakePlayer())
    return players.last!
  }

  // MARK: Events that a test triggers

  func endOpening(_ outcome: Result<Int, Failure>) {
    guard let job = opening else { return }
    opening = nil
    job.finish(
      outcome.map { rate in
        clients.append(FakeClient(self, sampleRate: rate))
        return clients.last!
      })
  }

  func endDesign(_ failure: Failure? = nil) {
    guard !designs.isEmpty else { return }
    let (device, rate, job) = designs.removeFirst()
    job.finish(failure.map { .failure($0) } ?? .success(FakeFilters.sets(device, rate: rate)))
  }

  /// Ends the oldest of those that nobody waits for.
  func endNearby(_ failure: Failure? = nil) {
    nearbyDesigns.removeAll { $0.isGivenUp.withLock { $0 } }
    guard !nearbyDesigns.isEmpty else { return }
    let (device, rate, _, job) = nearbyDesigns.removeFirst()
    job.finish(failure.map { .failure($0) } ?? .success(FakeFilters.sets(device, rate: rate)))
  }
}

extension FakeWorld {
  func endFallback(_ failure: Failure? = nil) {
    guard !fallbacks.isEmpty else { return }
    let (device, rate, missing, job) = fallbacks.removeFirst()
    job.finish(
      failure.map { .failure($0) } ?? .success(FakeFilters.sets(device, rate: rate, missing: missing)))
  }
}

extension Job {
  /// A job whose work is under way.
  fileprivate static func begun() -> Job {
    let job = Job()
    _ = job.begin()
    return job
  }
}

final class FakeClient: AudioClient, @unchecked Sendable {
  // Unchecked: used only by the test's thread.

  final class Prepared: PreparedEngine, @unchecked Sendable {
    let device: Device
    let engine = FakeEngine()
    private weak let client: FakeClient?
    init(_ client: FakeClient, _ device: Device, _ filters: FilterSets) {
      (self.client, self.device) = (client, device)
      engine.sampleRate = filters.bank.sampleRate
    }
    func adopt() { client?.adopt(self) }
    func discard() { client?.unusedEngines -= 1 }
  }

  /// The server's; a test may change it.
  var sampleRate: Int
  var isRetired: Bool { engine?.isRetired ?? false }
  var loss: ClientLoss?
  var freewheelChanges = 0
  private(set) var periodsRun = 0
  /// Whether the server's transport rolls; a test may change it.
  var isRolling = false
  var readings = Readings()
  var remark: String? { nil }
  var capturePorts: [String] { [] }
  private(set) var engine: FakeEngine?
  private(set) var device: Device?
  /// The setting of each change.
  private(set) var settings: [Ticket: Setting] = [:]
  private(set) var preparing: (prepared: Prepared, job: Job<any PreparedEngine>)?
  private(set) var closing: Job<Bool>?
  private(set) var isClosed = false
  private(set) var periods: [Job<Int>] = []
  /// An engine was prepared with the filters of another device or sample rate.
  private(set) var hasWrongFilters = false
  /// The number of engines with registered ports that are not in use.
  fileprivate(set) var unusedEngines = 0

  private unowned let world: FakeWorld

  init(_ world: FakeWorld, sampleRate: Int) {
    self.world = world
    self.sampleRate = sampleRate
    readings.period = 64
  }

  func prepare(_ filters: FilterSets, for device: Device) -> Job<any PreparedEngine> {
    precondition(!isClosed, "a closed client is not used")
    if filters.bank.device != device.name || filters.sampleRate != sampleRate { hasWrongFilters = true }
    let job = Job<any PreparedEngine>.begun()
    preparing = (Prepared(self, device, filters), job)
    return job
  }

  func endPreparing(_ failure: Failure? = nil) {
    guard let (prepared, job) = preparing else { return }
    preparing = nil
    if failure == nil { unusedEngines += 1 }
    job.finish(failure.map { .failure($0) } ?? .success(prepared))
  }

  private func adopt(_ prepared: Prepared) {
    engine = prepared.engine
    device = prepared.device
    (audibleFeeds, feedChanges) = ([:], [])
    unusedEngines -= 1
  }

  /// Where the next changes and substitutions take their filters from.
  private(set) var choice = FilterChoice()
  /// The microphones that the filters of each change and substitution do without.
  private var missing: [Ticket: Set<String>] = [:]

  func use(_ new: FilterChoice) { choice = new }

  /// Whether talkers were asked for last.
  private(set) var findsTalkers = false
  private(set) var lacksMicrophone = false
  func findTalkers(_ isWanted: Bool, lacksMicrophone: Bool) {
    (findsTalkers, self.lacksMicrophone) = (isWanted, lacksMicrophone)
  }
  private(set) var talkersFrom: Int?
  func listTalkers(from frame: Int?) { talkersFrom = frame }
  var changes: [TalkerChange] = []
  func takeTalkers() -> [TalkerChange] {
    defer { changes = [] }
    return changes
  }

  private func checkFilters(_ selection: Selection) throws {
    guard let device, let engine else { return }
    let sets = FakeFilters.sets(device, rate: engine.sampleRate)
    do { _ = try choice.filters(for: selection, of: device, sets) } catch {
      lacksFilters = true
      throw error
    }
  }
  /// A change asked for filters that are not there.
  private(set) var lacksFilters = false

  /// What `main` and the feeds that follow a pose were last turned to.
  private(set) var turned: [String: Selection] = [:]
  /// How many substitutions were posted.
  private(set) var turns = 0

  func substitute(_ feeds: [String], in setting: Setting) throws -> [String: Ticket] {
    var tickets: [String: Ticket] = [:]
    if feeds.contains(FeedSetting.main) {
      try checkFilters(setting.main.selection)
      let ticket = try push(FakeEngine.Message.substitute)
      settings[ticket] = setting
      missing[ticket] = choice.missing
      tickets[FeedSetting.main] = ticket
    }
    for feed in setting.others where feeds.contains(feed.name) && audibleFeeds[feed.name] != nil {
      do { try checkFilters(feed.selection) } catch { continue }
      let ticket = Ticket.next()
      feedReports += [.substituted(ticket, frame: 0, takeFrame: nil), .applied(ticket, frame: 0)]
      tickets[feed.name] = ticket
    }
    for name in tickets.keys {
      turns += 1
      turned[name] = choice.played(
        FeedSetting.isMain(name) ? setting.main.selection : try setting.feed(named: name).selection)
    }
    return tickets
  }

  /// The microphones that the audible filters do without; nil for silence.
  var audiblyMissing: Set<String>? { engine?.current.flatMap { missing[$0] } }

  func openTake(
    in folder: String?, _ options: TakeOptions, _ setting: Setting, feeds: [String]
  ) -> any TakeRecording {
    world.openTake()
  }

  var correlation: Float? { nil }
  func newestOutputs(_ frames: Int) -> (end: Int, samples: [Float]) { (0, []) }

  func isTaken(_ name: String) -> Job<Bool> {
    let job = Job<Bool>()
    job.finish(.success(false))
    return job
  }

  func close() -> Job<Bool> {
    if closing == nil {
      closing = .begun()
    }
    return closing!
  }

  func endClosing(_ failure: Failure? = nil) {
    guard let closing, !isClosed else { return }
    if failure == nil { isClosed = true }
    closing.finish(failure.map { .failure($0) } ?? .success(true))
  }

  private func push(_ message: (Ticket) -> FakeEngine.Message, fromReserve: Bool = false) throws -> Ticket {
    let ticket = Ticket.next()
    try engine!.push(message(ticket), fromReserve: fromReserve)
    return ticket
  }

  func change(_ name: String, to setting: Setting, isRestoring: Bool) throws -> Ticket {
    precondition(setting.device == device, "an engine has the filters of its own device alone")
    let feed = try setting.feed(named: name)
    guard feed.isMain || audibleFeeds[name] != nil else { throw QueueRefusal.noFeed }
    try checkFilters(feed.selection)
    guard feed.isMain else {
      let ticket = Ticket.next()
      feedChanges.append((ticket, feed, 0))
      return ticket
    }
    let ticket = try push(FakeEngine.Message.change, fromReserve: isRestoring)
    settings[ticket] = setting
    missing[ticket] = choice.missing
    return ticket
  }

  func fadeOut(from setting: Setting) throws -> Ticket { try push(FakeEngine.Message.change) }

  /// What the feeds besides `main` play, on the engine in use.
  private(set) var audibleFeeds: [String: FeedSetting] = [:]
  /// What the test has to end: ports of feeds that are being registered or unregistered.
  private(set) var feedJobs:
    [(feed: FeedSetting, engine: FakeEngine?, adding: Job<Ticket>?, removing: Job<Bool>?)] =
      []
  private var feedChanges: [(ticket: Ticket, feed: FeedSetting, periods: Int)] = []

  func add(_ feed: FeedSetting) -> Job<Ticket> {
    let job = Job<Ticket>.begun()
    feedJobs.append((feed, engine, job, nil))
    return job
  }

  func remove(_ feed: FeedSetting) -> Job<Bool> {
    let job = Job<Bool>.begun()
    feedJobs.append((feed, engine, nil, job))
    return job
  }

  func endFeedJob(_ failure: Failure? = nil) {
    guard !feedJobs.isEmpty else { return }
    let (feed, engine, adding, removing) = feedJobs.removeFirst()
    if failure == nil, engine === self.engine { audibleFeeds[feed.name] = adding == nil ? nil : feed }
    adding?.finish(failure.map { .failure($0) } ?? .success(.next()))
    removing?.finish(failure.map { .failure($0) } ?? .success(true))
  }

  /// One period of the changes of feeds: each takes two, and a take refuses it.
  private func runFeeds(isRecording: Bool) {
    for n in feedChanges.indices {
      if feedChanges[n].periods == 0, isRecording {
        feedReports.append(.refused(feedChanges[n].ticket, take: .next()))
        feedChanges[n].periods = 3
      }
      feedChanges[n].periods += 1
      guard feedChanges[n].periods == 2 else { continue }
      audibleFeeds[feedChanges[n].feed.name] = feedChanges[n].feed
      feedReports.append(.applied(feedChanges[n].ticket, frame: 0))
    }
    feedChanges.removeAll { $0.periods >= 2 }
  }
  private var feedReports: [Realtime.Report] = []

  func beginTake(into ring: TakeRing, followingTransport: Bool) throws -> Ticket {
    try push { .beginTake($0, followsTransport: followingTransport) }
  }
  func endTake() -> Ticket { try! push(FakeEngine.Message.endTake, fromReserve: true) }
  func beginPlayback(of ring: PlaybackRing) throws -> Ticket { try push(FakeEngine.Message.beginPlayback) }
  func endPlayback() { try! engine!.push(.endPlayback, fromReserve: true) }
  /// MIDI messages that the next call drains.
  var midi: [MIDIMessage] = []
  func drainMIDI() -> [MIDIMessage] {
    defer { midi = [] }
    return midi
  }
  func drainReports() -> [Realtime.Report] {
    defer { feedReports = [] }
    return (engine?.drainReports() ?? []) + feedReports
  }

  func run(periods count: Int) {
    guard let engine, loss == nil else { return }
    for _ in 0..<count {
      engine.isRolling = isRolling
      runFeeds(isRecording: engine.isRecording)
      engine.run(atRate: sampleRate)
      periodsRun += 1
    }
  }

  /// The audible setting; nil for silence.
  var audibleSetting: Setting? { engine?.current.flatMap { settings[$0] } }

  private var looks = 0
  private var news: [GraphReport] = []
  /// The connections of our ports.
  var connections: [String: Set<String>] = [:]
  /// Target ports of the outputs that do not exist.
  var missingTargets: [String] = []
  /// Whether looks at the graph complete.
  var looksEnd = true
  /// The connected ports that the next looks find, each with a source of its own.
  var connectedPorts: Set<String> {
    get { Set(connections.keys) }
    set { connections = Dictionary(uniqueKeysWithValues: newValue.map { ($0, ["source:\($0)"]) }) }
  }
  var events: [Wiring.Event] = []

  func checkGraph(for setting: Setting) -> Int {
    looks += 1
    if looksEnd {
      var found = GraphReport()
      found.checkNumber = looks
      found.connections = connections
      found.missingTargets = missingTargets
      found.events = events
      events = []
      news.append(found)
    }
    return looks
  }
  func drainGraphReports() -> [GraphReport] {
    if news.isEmpty { return [] }
    defer { news = [] }
    return news
  }

  func requestPeriod(_ frames: Int) -> Job<Int> {
    let job = Job<Int>.begun()
    periods.append(job)
    return job
  }

  func endPeriodRequest(_ failure: Failure? = nil) {
    guard !periods.isEmpty else { return }
    periods.removeFirst().finish(failure.map { .failure($0) } ?? .success(64))
  }
}
