import Acoustics
import Messages
import Presets
import Realtime
import Rendering
import Settings

/// The feeds besides `main`: what is wanted of them stands in the setting, and is brought about here.
extension Processor {
  // MARK: Requests

  /// Adds a feed. Answers when it is heard.
  package func addFeed(_ name: String, _ words: FeedWords, _ request: Request) throws {
    try refuseFeedsNow()
    var feed = FeedSetting(name: name, wanted.main.selection)
    try words.apply(to: &feed, of: wanted.device)
    if let obstacle = FeedNames.obstacle(to: feed, among: wanted.others, of: wanted.device) {
      throw Failure(.usage, obstacle)
    }
    try check(feed.selection)
    want(wanted.others + [feed])
    wait(for: name, feed, words, request)
  }

  /// Changes a feed. Answers when the change is heard.
  package func setFeed(_ name: String, _ words: FeedWords, _ request: Request) throws {
    try refuseFeedsNow()
    let old = try wanted.feed(named: name)
    let name = old.name
    var feed = old
    try words.apply(to: &feed, of: wanted.device)
    let others = wanted.others.filter { $0.name != name }
    if let obstacle = FeedNames.obstacle(to: feed, among: others, of: wanted.device) {
      throw Failure(.usage, obstacle)
    }
    let ports = old.portNames
    guard feed.portNames == ports else {
      throw Failure(
        .usage,
        "the feed \(name) has the ports \(ports.joined(separator: ", ")), which a change does not replace; "
          + "remove it, and add it again with the new pattern")
    }
    try check(feed.selection)
    want(wanted.others.map { $0.name == name ? feed : $0 })
    wait(for: name, feed, words, request)
  }

  /// Removes a feed. Answers when its ports have gone.
  package func removeFeed(_ name: String, _ request: Request) throws {
    try refuseFeedsNow()
    if FeedSetting.isMain(name) {
      throw Failure(
        .usage, "the feed main cannot be removed: it always exists; mute it with: pinna set --mute on")
    }
    let name = try wanted.feed(named: name).name
    want(wanted.others.filter { $0.name != name })
    wait(for: name, nil, nil, request)
  }

  private func refuseFeedsNow() throws(Failure) {
    switch state.kind {
    // The feed waits for the filters and ports of `main`.
    case .joining, .preparing: break
    default: try refuseOutsideGraph()
    }
    try refuseDuringTake()
  }

  /// - Throws: why the device in the route has no filters for `selection`.
  func check(_ selection: Selection) throws { try check(selection, of: wanted.device, in: filters) }

  /// - Throws: why `selection` has no filters: neither are they among `filters`, nor can they be designed on demand.
  func check(_ selection: Selection, of device: Device, in filters: FilterSets?) throws {
    if try device.ownDevice(of: selection) == nil { try filters?.check(selection, of: device) }
  }

  private func want(_ feeds: [FeedSetting]) {
    stir()
    heard.want(feeds)
    change?.want(feeds)
    if case .fadingOut(var change, let engine, let filters, let ticket) = state {
      change.want(feeds)
      updateState(.fadingOut(change, engine, filters, ticket))
    }
  }

  /// - Parameter words: what was asked for of the feed; nil for its end.
  private func wait(for name: String, _ feed: FeedSetting?, _ words: FeedWords?, _ request: Request) {
    // Whoever asked for nothing that this replaces waits for the same.
    let earlier = (machines[name]?.waiting ?? []).map { waiting in
      var waiting = waiting
      if hasAll(of: waiting, feed) { waiting.feed = feed }
      return waiting
    }
    // A design may take minutes; its own limit ends it.
    let new = FeedMachine.Waiting(
      feed: feed, words: words, request: request, deadline: world.now + .seconds(610))
    machines[name, default: FeedMachine()].waiting = earlier + [new]
    machines[name]?.obstacle = nil
  }

  /// Whether `feed` has all that was asked for.
  private func hasAll(of waiting: FeedMachine.Waiting, _ feed: FeedSetting?) -> Bool {
    guard var changed = feed, let words = waiting.words else { return false }
    return (try? words.apply(to: &changed, of: wanted.device)) != nil && changed == feed
  }

  private func wantedFeed(_ name: String) -> FeedSetting? { wanted.others.first { $0.name == name } }

  /// What is in force of a feed is wanted again.
  private func wantAgain(_ name: String) {
    let feed = machines[name]?.inForce
    want(
      wanted.others.compactMap { $0.name == name ? feed : $0 }
        + (wantedFeed(name) != nil ? [] : [feed].compactMap(\.self)))
  }

  // MARK: Polling

  /// Brings the client's feeds closer to those that are wanted, and answers who waits for that.
  func pollFeeds() {
    let names = Set(machines.keys).union(wanted.others.map(\.name)).filter { !FeedSetting.isMain($0) }
      .sorted()
    for name in names { advanceFeed(name) }
    if mayWorkOnFeeds { for name in names { beginFeedStep(name) } }
    answerFeedRequests()
    for name in names where machines[name]?.isNothing ?? false && wantedFeed(name) == nil {
      machines[name] = nil
    }
  }

  /// During a take nothing changes. Before another device takes over, the ports stay as they are.
  private var mayWorkOnFeeds: Bool {
    guard state.isInGraph, state.take == nil else { return false }
    switch state.kind {
    case .fadingOut, .stopping: return false
    default: return change.map(\.isDesigning) ?? true
    }
  }

  /// Begins what leads from the feed in force to the wanted one.
  private func beginFeedStep(_ name: String) {
    let machine = machines[name, default: FeedMachine()]
    guard let client, machine.isSteady, !machine.isChanging else { return }
    let (old, new) = (machine.inForce, wantedFeed(name))
    let leftOver = old == nil ? machine.leftOver : nil
    if old == new, leftOver == nil { return }
    if let obstacle = machine.obstacle, obstacle.wanted == new { return }
    func begin(_ feed: FeedSetting, _ step: FeedMachine.Step, seconds: Int = 5) {
      machines[name, default: machine].begin(step, to: feed, until: world.now + .seconds(seconds))
    }
    do {
      if let new, let key = missingKey(for: new.selection, of: wanted.device) {
        design(key)
        return begin(new, .designing(key), seconds: 610)
      }
      switch (old, new) {
      // A feed with the same ports takes them over, and keeps their connections.
      case (nil, _) where leftOver.map { $0.portNames != new?.portNames } ?? false:
        if let leftOver { begin(leftOver, .removing(client.remove(leftOver))) }
      case (nil, let new?):
        let turned = turn(new.selection, of: wanted.device)
        if turned != nil { client.use(onDemand.choice) }
        begin(new, .adding(client.add(new)))
        machines[name]?.turn.sent = turned
      case (let old?, let new?) where old.portNames == new.portNames:
        try post(name, wanted)
      case (let old?, _): begin(old, .removing(client.remove(old)))
      case (nil, nil): break
      }
    } catch let error as QueueRefusal where error == .queueFull {
      // Tried again with the next poll.
    } catch {
      failFeed(name, new, Failure(error))
    }
  }

  /// Continues with the result of a step.
  private func advanceFeed(_ name: String) {
    guard let machine = machines[name], let goal = machine.goal, client != nil else { return }
    func end(inForce feed: FeedSetting?) {
      machines[name]?.endStep()
      machines[name]?.inForce = feed
      machines[name]?.leftOver = nil
      // The callback reports no more on a feed that has gone.
      if feed == nil { _ = machines[name]?.forgetFades() }
    }
    func fail(_ wanted: FeedSetting?, _ failure: Failure) {
      machines[name]?.endStep()
      failFeed(name, wanted, failure)
    }
    let isLate = machine.deadline.map(hasPassed) ?? false
    switch machine.step {
    case .steady: break
    case .designing(let key):
      if let failure = onDemand.failures.removeValue(forKey: key) {
        fail(goal, failure)
      } else if isSuperseded(goal, key) {
        machines[name]?.endStep()
        dropDesign(key)
      } else if let job = onDemand.designs[key]?.job {
        if let part = job.progress {
          reportProgress("designing filters for the feed \(name)", part: part, [name])
        }
      } else {
        // Its filters are there: the next step begins.
        machines[name]?.endStep()
      }
    case .adding(let job):
      switch job.result {
      case .success:
        end(inForce: goal)
        machines[name]?.turn.changed(machine.turn.sent)
      case .failure(let failure): fail(goal, failure)
      case nil where isLate && !machine.isOverdue:
        machines[name]?.becomeOverdue()
        failWaiting(name, Self.stalled + "; the feed comes into force when they do") { _ in true }
      case nil: break
      }
    case .removing(let job):
      switch job.result {
      case .success: end(inForce: nil)
      // What is wanted by now is tried again when something else is.
      case .failure(let failure): fail(wantedFeed(name), failure)
      case nil where isLate:
        // The client goes on with it.
        job.abandon()
        end(inForce: nil)
        failWaiting(name, Self.stalled + "; the feed ends when they do") { $0 == nil }
      case nil: break
      }
    }
  }

  /// Answers those who wait for some feeds of a name.
  private func failWaiting(_ name: String, _ sentence: String, _ which: (FeedSetting?) -> Bool) {
    for waiting in machines[name]?.waiting ?? [] where which(waiting.feed) {
      waiting.request.fail(.failed, sentence)
    }
    machines[name]?.waiting.removeAll { $0.request.isAnswered }
  }

  private func failFeed(_ name: String, _ wanted: FeedSetting?, _ failure: Failure) {
    machines[name, default: FeedMachine()].obstacle = (wanted, failure)
    if machines[name]?.waiting.isEmpty ?? true {
      warn("the feed \(name) is not as it should be: \(failure.description)")
    }
  }

  /// Whether another feed of that name is wanted by now, which other filters are designed for.
  private func isSuperseded(_ feed: FeedSetting, _ key: FilterChoice.Key) -> Bool {
    let new = wantedFeed(feed.name)
    return new != feed
      && new.flatMap { missingKey(for: $0.selection, of: wanted.device) } != key
  }

  /// At most once a second.
  /// - Parameter names: of the feeds that are waited for.
  private func reportProgress(_ text: String, part: Double, _ names: [String]) {
    guard world.now >= nextProgress else { return }
    nextProgress = world.now + .seconds(1)
    for waiting in names.flatMap({ machines[$0]?.waiting ?? [] }) {
      waiting.request.reportProgress(text, part: part)
    }
  }

  private func answerFeedRequests() {
    switch state {
    case .joining(_, let job):
      if let part = job.progress {
        reportProgress("designing filters for \(wanted.device.name)", part: part, Array(machines.keys))
      }
    case .preparing: break
    default:
      do { try refuseOutsideGraph() } catch { return failFeedRequests(error) }
    }
    for name in machines.keys {
      for waiting in machines[name]?.waiting ?? [] { answer(waiting, of: name) }
      machines[name]?.waiting.removeAll { $0.request.isAnswered }
    }
  }

  private func answer(_ waiting: FeedMachine.Waiting, of name: String) {
    guard let machine = machines[name], !waiting.request.isAnswered else { return }
    let isAtRest = machine.isSteady && !machine.isChanging
    // During a take nothing more is posted: who asked for what an earlier change brought has it.
    let isLocked = state.take != nil && !machine.isChanging
    if isAtRest, machine.inForce == waiting.feed || isLocked && hasAll(of: waiting, machine.inForce) {
      waiting.request.answer(
        .done(machine.inForce.map { FeedAnswer(feed: feedReport($0)) } ?? FeedAnswer(removed: name)))
    } else if isAtRest, let obstacle = machine.obstacle, obstacle.wanted == waiting.feed {
      // Without the request, what was before stays wanted.
      wantAgain(name)
      machines[name]?.obstacle = nil
      for same in machine.waiting where same.feed == waiting.feed { same.request.fail(obstacle.failure) }
    } else if isLocked {
      wantAgain(name)
      waiting.request.fail(.refused, recordingReason)
    } else if wantedFeed(name) != waiting.feed {
      waiting.request.fail(.failed, Failure.superseded)
    } else if machine.isStalled || machine.isOverdue {
      waiting.request.fail(.failed, Self.stalled + "; the change comes into force when they do")
    } else if hasPassed(waiting.deadline) {
      waiting.request.fail(.failed, Self.stalled)
    }
  }

  /// The engine and its feeds are gone: who waits for one learns why.
  func failFeedRequests(_ failure: Failure) {
    for name in machines.keys.sorted() {
      let waiting = machines[name]?.waiting ?? []
      machines[name]?.waiting = []
      for waiting in waiting { waiting.request.fail(failure) }
    }
  }

  /// Whether the client plays all feeds as they are wanted, as far as it can.
  package var areFeedsSettled: Bool {
    let feeds = machines.filter { !FeedSetting.isMain($0.key) }
    return wanted.others.allSatisfy { feeds[$0.name] != nil }
      && feeds.allSatisfy { name, machine in
        let feed = wantedFeed(name)
        return !machine.isBusy
          && (machine.inForce == feed || machine.obstacle.map { $0.wanted == feed } ?? false)
      }
  }

  // MARK: Reports

  /// - Throws: `UnknownWord` if nobody wants such a feed.
  package func feedAnswer(_ name: String) throws -> FeedAnswer {
    FeedAnswer(feed: feedReport(try wanted.feed(named: name)))
  }

  /// All feeds besides `main`.
  package var feedReports: [FeedReport] {
    wanted.others.isEmpty ? [] : feedReports(client?.readings ?? Readings())
  }

  private func feedReports(_ readings: Readings) -> [FeedReport] {
    wanted.others.map { feedReport($0, readings) }
  }

  /// Levels of the outputs of all feeds besides `main`.
  func feedLevels(_ readings: Readings) -> [StatusFields.NamedLevel] {
    feedReports(readings).flatMap(\.outputs)
  }

  private func feedReport(_ feed: FeedSetting, _ readings: Readings? = nil) -> FeedReport {
    var report = FeedReport(feed.reported, FeedFields())
    report.weak = weakness(of: feed.selection, on: wanted.device)
    let levels = (readings ?? client?.readings)?.feedLevels[feed.name] ?? []
    report.outputs = feed.portNames.enumerated().map { n, port in
      StatusFields.NamedLevel(port, n < levels.count ? levels[n] : Level(rms: 0, peak: 0))
    }
    report.isHeard = machines[feed.name]?.inForce == feed
    report.obstacle = machines[feed.name]?.obstacle?.failure.description
    return report
  }
}
