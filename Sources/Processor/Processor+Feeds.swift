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
    wait(for: name, feed, request)
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
    wait(for: name, feed, request)
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
    wait(for: name, nil, request)
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
  func check(_ selection: Selection) throws {
    if try wanted.device.ownDevice(of: selection) == nil {
      try filters?.check(selection, of: wanted.device)
    }
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

  private func wait(for name: String, _ feed: FeedSetting?, _ request: Request) {
    feeds.obstacles[name] = nil
    for other in feeds.waiting where other.name == name { other.request.fail(.failed, Failure.superseded) }
    feeds.waiting.removeAll { $0.name == name }
    // A design may take minutes; its own limit ends it.
    feeds.waiting.append(
      FeedWork.Waiting(name: name, feed: feed, request: request, deadline: world.now + .seconds(610)))
  }

  // MARK: Polling

  /// Brings the client's feeds closer to those that are wanted, and answers who waits for that.
  func pollFeeds() {
    for name in Array(feeds.current.keys) { advanceFeed(name) }
    if mayWorkOnFeeds {
      let names = Set(feeds.inForce.keys).union(feeds.leftOver.keys).union(wanted.others.map(\.name))
        .subtracting(feeds.current.keys)
      for name in names.sorted() { beginFeedStep(name) }
    }
    answerFeedRequests()
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
    guard let client else { return }
    let (old, new) = (feeds.inForce[name], wanted.others.first { $0.name == name })
    let leftOver = old == nil ? feeds.leftOver[name] : nil
    if old == new, leftOver == nil { return }
    if let obstacle = feeds.obstacles[name], obstacle.wanted == new { return }
    func begin(_ feed: FeedSetting, _ step: FeedWork.Step, seconds: Int) {
      feeds.current[name] = FeedWork.Current(feed: feed, step: step, deadline: world.now + .seconds(seconds))
    }
    do {
      if let new, let key = missingKey(for: new.selection, of: wanted.device) {
        design(key)
        return begin(new, .designing(key), seconds: 610)
      }
      tracking.sent[name] = new.flatMap { turn($0.selection, of: wanted.device) }
      if tracking.sent[name] != nil { client.use(onDemand.choice) }
      switch (old, new) {
      // A feed with the same ports takes them over, and keeps their connections.
      case (nil, _) where leftOver.map { $0.portNames != new?.portNames } ?? false:
        if let leftOver { begin(leftOver, .removing(client.remove(leftOver)), seconds: 5) }
      case (nil, let new?):
        begin(new, .adding(client.add(new)), seconds: 5)
      case (let old?, let new?) where old.portNames == new.portNames:
        begin(new, .changing(try client.change(new)), seconds: 3)
      case (let old?, _): begin(old, .removing(client.remove(old)), seconds: 5)
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
    guard let work = feeds.current[name], let client else { return }
    func end() { feeds.current[name] = nil }
    func fail(_ failure: Failure) {
      end()
      // What was tried, which may not be what is wanted by now.
      if case .removing = work.step {
        failFeed(name, wanted.others.first { $0.name == name }, failure)
      } else {
        failFeed(name, work.feed, failure)
      }
    }
    let isLate = hasPassed(work.deadline)
    switch work.step {
    case .designing(let key):
      if let failure = onDemand.failures.removeValue(forKey: key) {
        fail(failure)
      } else if isSuperseded(work.feed, key) {
        end()
        dropDesign(key)
      } else if let job = onDemand.designs[key]?.job {
        if let part = job.progress {
          reportProgress("designing filters for the feed \(name)", part: part, name)
        }
      } else {
        // Its filters are there: the next step begins.
        end()
      }
    case .adding(let job):
      switch job.result {
      case .success:
        feeds.inForce[name] = work.feed
        feeds.leftOver[name] = nil
        tracking.changed(name, tracking.sent[name])
        end()
      case .failure(let failure): fail(failure)
      case nil where isLate && !work.isOverdue:
        feeds.current[name]?.isOverdue = true
        for waiting in feeds.waiting where waiting.name == name {
          waiting.request.fail(.failed, Self.stalled + "; the feed comes into force when it does")
        }
        feeds.waiting.removeAll { $0.request.isAnswered }
      case nil: break
      }
    case .removing(let job):
      switch job.result {
      case .success:
        (feeds.inForce[name], feeds.leftOver[name]) = (nil, nil)
        end()
      case .failure(let failure): fail(failure)
      case nil where isLate:
        // The client goes on with it.
        job.abandon()
        (feeds.inForce[name], feeds.leftOver[name]) = (nil, nil)
        end()
        for waiting in feeds.waiting where waiting.name == name && waiting.feed == nil {
          waiting.request.fail(.failed, Self.stalled + "; the feed ends when it does")
        }
        feeds.waiting.removeAll { $0.request.isAnswered }
      case nil: break
      }
    case .changing:
      guard isLate else { return }
      // The callback has the change, and applies it when periods run.
      feeds.inForce[name] = work.feed
      end()
      for waiting in feeds.waiting where waiting.name == name && waiting.feed == work.feed {
        waiting.request.fail(.failed, Self.stalled + "; the change comes into force when it does")
      }
      feeds.waiting.removeAll { $0.request.isAnswered }
    }
  }

  /// Handles the callback's report on a change of a feed.
  /// - Returns: whether the ticket is that of such a change.
  func feedChangeEnded(_ ticket: Ticket, isInForce: Bool) -> Bool {
    for (name, work) in feeds.current {
      guard case .changing(ticket) = work.step else { continue }
      if isInForce {
        feeds.inForce[name] = work.feed
        tracking.changed(name, tracking.sent[name])
      }
      feeds.current[name] = nil
      return true
    }
    return false
  }

  private func failFeed(_ name: String, _ wanted: FeedSetting?, _ failure: Failure) {
    feeds.obstacles[name] = (wanted, failure)
    if !feeds.waiting.contains(where: { $0.name == name }) {
      warn("the feed \(name) is not as it should be: \(failure.description)")
    }
  }

  /// Whether another feed of that name is wanted by now, which other filters are designed for.
  private func isSuperseded(_ feed: FeedSetting, _ key: FilterChoice.Key) -> Bool {
    let new = wanted.others.first { $0.name == feed.name }
    return new != feed
      && new.flatMap { missingKey(for: $0.selection, of: wanted.device) } != key
  }

  /// At most once a second.
  /// - Parameter name: the feed that is waited for; nil for all.
  private func reportProgress(_ text: String, part: Double, _ name: String? = nil) {
    guard world.now >= nextProgress else { return }
    nextProgress = world.now + .seconds(1)
    for waiting in feeds.waiting where name == nil || waiting.name == name {
      waiting.request.reportProgress(text, part: part)
    }
  }

  private func answerFeedRequests() {
    switch state {
    case .joining(_, let job):
      if let part = job.progress { reportProgress("designing filters for \(wanted.device.name)", part: part) }
    case .preparing: break
    default:
      do { try refuseOutsideGraph() } catch { return failFeedRequests(error) }
    }
    for waiting in feeds.waiting {
      let name = waiting.name
      if feeds.inForce[name] == waiting.feed, feeds.current[name] == nil {
        waiting.request.answer(
          .done(waiting.feed.map { FeedAnswer(feed: feedReport($0)) } ?? FeedAnswer(removed: name)))
      } else if let obstacle = feeds.obstacles[name], obstacle.wanted == waiting.feed,
        feeds.current[name] == nil
      {
        // Without the request, what was before stays wanted.
        let before = feeds.inForce[name]
        want(
          wanted.others.compactMap { $0.name == name ? before : $0 }
            + (wanted.others.contains { $0.name == name } ? [] : [before].compactMap(\.self)))
        feeds.obstacles[name] = nil
        waiting.request.fail(obstacle.failure)
      } else if wanted.others.first(where: { $0.name == name }) != waiting.feed {
        waiting.request.fail(.failed, Failure.superseded)
      } else if hasPassed(waiting.deadline) {
        waiting.request.fail(.failed, Self.stalled)
      }
    }
    feeds.waiting.removeAll { $0.request.isAnswered }
  }

  /// The engine and its feeds are gone: who waits for one learns why.
  func failFeedRequests(_ failure: Failure) {
    let waiting = feeds.waiting
    feeds.waiting = []
    for waiting in waiting { waiting.request.fail(failure) }
  }

  /// Whether the client plays all feeds as they are wanted, as far as it can.
  package var areFeedsSettled: Bool {
    let names = Set(feeds.inForce.keys).union(wanted.others.map(\.name))
    return !feeds.isBusy
      && names.allSatisfy { name in
        let feed = wanted.others.first { $0.name == name }
        return feeds.inForce[name] == feed || feeds.obstacles[name].map { $0.wanted == feed } ?? false
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
    report.isHeard = feeds.inForce[feed.name] == feed
    report.obstacle = feeds.obstacles[feed.name]?.failure.description
    return report
  }
}
