import Acoustics
import Foundation
import Messages
import Processor
import Realtime
import Recording
import Settings
import TestSupport

/// An event that can happen to a processor.
enum RigEvent: Int, CaseIterable {
  // Requests.
  case setGain, setPattern, setLook, setFollow, setMute, setOtherDevice, setHomeDevice, setUnknown
  case addFeed, setFeed, removeFeed
  case startTake, armTake, stopTake, play, stopPlayback, cancelChange, requestPeriod, stop
  // The callback, the disk, JACK, the clock.
  case period, periods, openSucceeds, openFindsNoServer, openFails, openAtOtherRate
  case designEnds, designFails, prepareEnds, prepareFails, closeEnds, closeFails
  case feedEnds, feedFails
  case takeOpens, takeFailsToOpen, takeEnds, takeEndsIncomplete, diskHangs
  case playerOpens, playerFails, playbackRunsOut, periodIsSet, periodIsRefused
  case transportRolls, transportStops
  case microphoneFails, microphoneReturns, fallbackEnds, fallbackFails
  case nearbyEnds, nearbyFails, poseComes, poseIsCentre
  case graphStalls, newClientRuns, newClientStalls
  case serverGoes, rateChanges, requesterGoes, millisecond, tenthOfSecond, seconds

  var isRequest: Bool { rawValue <= Self.stop.rawValue }
}

/// A random sequence of events from one seed. After each event it checks the invariants.
struct RandomSequence {
  struct Violation: Error, CustomStringConvertible {
    let seed: UInt64
    let step: Int
    let what: String
    let events: [RigEvent]
    var description: String {
      "seed \(seed), step \(step): \(what); events: \(events.map { "\($0)" }.joined(separator: " "))"
    }
  }

  /// How often each event occurred in each state: shape `[state][event]`.
  typealias Counts = [[Int]]
  static var noCounts: Counts {
    Counts(
      repeating: [Int](repeating: 0, count: RigEvent.allCases.count),
      count: ProcessorState.Kind.allCases.count)
  }
  private static let stateIndices = Dictionary(
    uniqueKeysWithValues: ProcessorState.Kind.allCases.enumerated().map { ($0.element, $0.offset) })
  private static let ends: [RigEvent] = [.prepareEnds, .prepareFails, .takeEnds, .takeEndsIncomplete]

  private let seed: UInt64
  private var noise: SeededNoise
  private let rig: Rig
  private var pastEvents: [RigEvent] = []
  private var unanswered: [Rig.SentRequest] = []
  private var lastGain = 0

  init(seed: UInt64) {
    self.seed = seed
    noise = SeededNoise(seed: seed)
    rig = Rig()
    // Most sequences begin in a graph, where most can happen.
    if seed % 5 != 0 { rig.join() }
  }

  /// Runs a sequence of `steps` events to its end.
  static func run(seed: UInt64, steps: Int, counts: inout Counts) throws {
    var sequence = RandomSequence(seed: seed)
    for step in 0..<steps { try sequence.step(step, &counts) }
    if seed % 2 == 0 { try sequence.settle(steps) } else { try sequence.freeze(steps) }
  }

  private mutating func step(_ step: Int, _ counts: inout Counts) throws {
    let kind = rig.processor.state.kind
    // A playback ends within a period: work that rarely happens to end just then.
    let events = kind == .endingPlayback && noise.next() % 2 == 0 ? Self.ends : Self.weighted
    let event = events[Int(noise.next() % UInt64(events.count))]
    if trigger(event) {
      counts[Self.stateIndices[kind]!][event.rawValue] += 1
      pastEvents.append(event)
    }
    rig.processor.poll()
    try check(step)
  }

  /// Events repeated by weight, so that sequences make progress.
  private static let weighted: [RigEvent] = RigEvent.allCases.flatMap { event -> [RigEvent] in
    let times =
      switch event {
      case .period, .periods: 5
      case .nearbyEnds, .openSucceeds, .designEnds, .prepareEnds, .takeOpens, .feedEnds, .playerOpens,
        .closeEnds:
        4
      case .startTake, .setGain, .setOtherDevice, .millisecond, .tenthOfSecond, .poseComes: 3
      case .stop, .serverGoes: 2
      case .armTake, .setHomeDevice, .takeEnds, .play, .stopTake, .graphStalls, .newClientRuns: 2
      default: 1
      }
    return [RigEvent](repeating: event, count: times)
  }

  /// Returns false if the event cannot happen now.
  private mutating func trigger(_ event: RigEvent) -> Bool {
    let (world, client) = (rig.world, rig.world.client)
    let feed = Int(noise.next() % 3)
    let failure = Failure(.failed, "it did not work")
    switch event {
    case .setGain: ask { $0.set([:], gain: $1) }
    case .setPattern:
      let pattern = noise.next() % 2 == 0 ? "cardioid" : "omnidirectional"
      ask { $0.set(["pattern": pattern], gain: $1) }
    case .setLook:
      let look = ["0", "60", "60,30", "-120", "off"][Int(noise.next() % 5)]
      ask { $0.set(["look": look], gain: $1) }
    case .setFollow:
      let word = ["off", "look", "roll,look", "yaw"][Int(noise.next() % 4)]
      ask { $0.set(["follow": word, "pattern": "cardioid"], gain: $1) }
    case .setMute:
      let word = noise.next() % 2 == 0 ? "on" : "off"
      ask { $0.set(["mute": word], gain: $1) }
    case .setOtherDevice: ask { $0.set(["input": "b"], gain: $1) }
    case .setHomeDevice: ask { $0.set(["input": "a"], gain: $1) }
    case .setUnknown: ask { $0.set(["pattern": "banana"], gain: $1) }
    case .addFeed: ask { $0.addFeed(feed, gain: $1) }
    case .setFeed:
      let look = ["60", "-60", nil, nil, nil][Int(noise.next() % 5)]
      let follow = ["look", "off", nil, nil][Int(noise.next() % 4)]
      ask { $0.setFeed(feed, look: look, follow: follow, gain: $1) }
    case .removeFeed: ask { rig, _ in rig.removeFeed(feed) }
    case .startTake: ask { rig, _ in rig.startTake() }
    case .armTake: ask { rig, _ in rig.armTake() }
    case .stopTake: ask { rig, _ in rig.stopTake() }
    case .play: ask { rig, _ in rig.play() }
    case .stopPlayback: ask { rig, _ in rig.stopPlayback() }
    case .cancelChange: ask { rig, _ in rig.cancel() }
    case .requestPeriod: ask { rig, _ in rig.requestPeriod() }
    case .stop:
      // Rarely, because nothing follows it.
      guard noise.next() % 8 == 0 else { return false }
      ask { rig, _ in rig.stop() }
    case .period, .periods:
      guard let client, client.engine != nil, client.loss == nil else { return false }
      client.run(periods: event == .period ? 1 : 5)
    case .openSucceeds, .openAtOtherRate, .openFails, .openFindsNoServer:
      guard world.opening != nil else { return false }
      world.endOpening(
        event == .openSucceeds
          ? .success(48000)
          : event == .openAtOtherRate
            ? .success(44100)
            : .failure(event == .openFails ? failure : Failure(.noServer, "no JACK server is running")))
    case .designEnds, .designFails:
      guard !world.designs.isEmpty else { return false }
      world.endDesign(event == .designFails ? failure : nil)
    case .prepareEnds, .prepareFails:
      guard let client, client.preparing != nil else { return false }
      client.endPreparing(event == .prepareFails ? failure : nil)
    case .feedEnds, .feedFails:
      guard let client, !client.feedJobs.isEmpty else { return false }
      client.endFeedJob(event == .feedFails ? failure : nil)
    case .closeEnds, .closeFails:
      guard let client, client.closing != nil, !client.isClosed else { return false }
      client.endClosing(event == .closeFails ? failure : nil)
    case .takeOpens, .takeFailsToOpen:
      guard let take = world.takes.first(where: \.isWanted) else { return false }
      if event == .takeOpens { take.open() } else { take.phase = .failed(TakeError("the disk is full")) }
    case .takeEnds, .takeEndsIncomplete:
      // The disk thread finishes a take that nobody writes into any more.
      guard
        let take = world.takes.first(where: {
          $0.isOpen && ($0.isAbandoned || rig.processor.state.take?.take !== $0)
        })
      else { return false }
      take.phase = .finished(event == .takeEnds ? FakeTake.whole : FakeTake.incomplete)
    case .diskHangs:
      guard let take = world.takes.last, take.isOpen else { return false }
      take.unansweredFor += .seconds(4)
    case .playerOpens, .playerFails:
      guard let player = world.players.first(where: \.isWanted) else { return false }
      if event == .playerOpens { player.open() } else { player.phase = .failed(TakeError("no such file")) }
    case .playbackRunsOut:
      guard let client, client.loss == nil, let engine = client.engine, engine.isPlaying else {
        return false
      }
      try? engine.push(.endPlayback, fromReserve: true)
      client.run(periods: 20)
    case .periodIsSet, .periodIsRefused:
      guard let client, !rig.processor.periodRequests.isEmpty else { return false }
      client.endPeriodRequest(event == .periodIsRefused ? failure : nil)
    case .transportRolls, .transportStops:
      guard let client, client.engine != nil else { return false }
      client.isRolling = event == .transportRolls
    case .microphoneFails, .microphoneReturns:
      guard let client, client.engine != nil else { return false }
      client.readings.microphones = ["one", "two"]
      client.connectedPorts = ["one", "two"]
      client.readings.levels = [Level](repeating: Level(rms: 0.1, peak: 0.2), count: 4)
      client.readings.mutedMicrophones = event == .microphoneFails ? ["two"] : []
    case .fallbackEnds, .fallbackFails:
      guard !world.fallbacks.isEmpty else { return false }
      world.endFallback(event == .fallbackFails ? failure : nil)
    case .poseComes:
      rig.processor.track(
        TrackedPose(yaw: Double(noise.next() % 360), pitch: 0, roll: Double(noise.next() % 360)))
    case .poseIsCentre: try? rig.processor.calibrateTracker(.centre)
    case .nearbyEnds, .nearbyFails:
      guard !world.nearby.isEmpty else { return false }
      world.endNearby(event == .nearbyFails ? failure : nil)
    case .graphStalls:
      guard client?.engine != nil, noise.next() % 4 == 0 else { return false }
      rig.stall(.seconds(5), every: .milliseconds(250))
    case .newClientRuns, .newClientStalls:
      guard let probe = world.probes.last, probe.result == nil else { return false }
      probe.finish(.success(event == .newClientRuns))
    case .serverGoes:
      guard let client, client.loss == nil, noise.next() % 8 == 0 else { return false }
      client.loss = noise.next() % 2 == 0 ? .server("it was killed") : .removed
    case .rateChanges:
      guard let client, client.loss == nil, noise.next() % 4 == 0 else { return false }
      client.sampleRate = client.sampleRate == 48000 ? 44100 : 48000
    case .requesterGoes:
      guard let request = unanswered.last else { return false }
      request.requesterIsPresent = false
    case .millisecond: world.now += .milliseconds(1)
    case .tenthOfSecond: world.now += .milliseconds(100)
    case .seconds:
      let duration = Duration.milliseconds(Int(noise.next() % 6000))
      if noise.next() % 4 == 0 { world.now += duration } else { rig.advance(duration) }
    }
    return true
  }

  private mutating func ask(_ body: (Rig, Int) -> Rig.SentRequest) {
    lastGain += 1
    unanswered.append(body(rig, lastGain))
  }

  // MARK: Invariants

  private func violated(_ step: Int, _ what: String) -> Violation {
    Violation(seed: seed, step: step, what: what, events: pastEvents)
  }

  private mutating func check(_ step: Int) throws {
    let processor = rig.processor
    if processor.state.kind.limit != nil, processor.deadline == nil {
      throw violated(step, "\(processor.state.kind) has no deadline")
    }
    for request in unanswered where request.request.answers > 0 {
      if request.request.answers > 1 { throw violated(step, "\(request.event) was answered twice") }
      if request.wasWronglyRefused {
        throw violated(step, "\(request.event) was refused for a take that status does not show")
      }
    }
    unanswered.removeAll { $0.request.isAnswered }
    if rig.world.client?.hasWrongFilters ?? false {
      throw violated(step, "an engine was prepared with filters of another device or sample rate")
    }
    if rig.world.client?.lacksFilters ?? false {
      throw violated(step, "a change was posted without its filters")
    }
    if rig.world.nearby.count > ([.live, .recording].contains(processor.state.kind) ? 1 : 0) {
      throw violated(step, "looks that nobody waits for are designed when something else is to be done")
    }
    if processor.takes.closing.count > Takes.maxClosing + 1 {
      throw violated(step, "too many takes are closing")
    }
  }

  /// Lets everything complete: in the end every request is answered, and the last accepted setting is
  /// audible.
  private mutating func settle(_ step: Int) throws {
    let (world, processor) = (rig.world, rig.processor)
    for round in 0..<400 {
      world.now += .milliseconds(100)
      world.endOpening(.success(48000))
      while !world.designs.isEmpty { world.endDesign() }
      while !world.fallbacks.isEmpty { world.endFallback() }
      world.endNearby()
      if let client = world.client {
        client.endPreparing()
        while !client.feedJobs.isEmpty { client.endFeedJob() }
        if client.closing != nil { client.endClosing() }
        client.endPeriodRequest()
        client.run(periods: 20)
      }
      for take in world.takes {
        take.unansweredFor = .zero
        if take.isWanted { take.open() }
        if take.isOpening { take.phase = .failed(TakeError("nobody wanted it")) }
        if take.isOpen, take.isAbandoned || processor.state.take?.take !== take {
          take.phase = .finished(FakeTake.whole)
        }
      }
      for player in world.players where player.isWanted { player.open() }
      if round % 8 == 4, processor.state.take != nil { unanswered.append(rig.stopTake()) }
      if round % 8 == 4, processor.state.kind == .playing { unanswered.append(rig.stopPlayback()) }
      // The unusable server makes room for a usable one.
      if processor.state.kind == .unusable { world.client?.loss = .server("it was stopped") }
      processor.poll()
      try check(step + round)
      let isAtRest =
        [.live, .stopped, .stranded].contains(processor.state.kind) && processor.takes.closing.isEmpty
      // A microphone that has returned counts as working after 2 s.
      if round > 30, isAtRest, unanswered.isEmpty, !processor.isChangingMain, processor.change == nil,
        processor.areFeedsSettled
      {
        break
      }
    }
    try checkSettled(step)
  }

  private func checkSettled(_ step: Int) throws {
    let processor = rig.processor
    if let request = unanswered.first { throw violated(step, "\(request.event) was never answered") }
    let resting: Set<ProcessorState.Kind> = [.live, .stopped, .stranded]
    guard resting.contains(processor.state.kind) else {
      throw violated(step, "everything completed, and it rests in \(processor.state.kind)")
    }
    if !processor.takes.closing.isEmpty { throw violated(step, "a take was never finished") }
    guard processor.state.kind == .live, let client = rig.world.client else { return }
    if processor.isChangingMain { throw violated(step, "a ticket never ended") }
    if client.engine?.isRecording ?? false {
      throw violated(step, "the callback records a take that nobody owns")
    }
    if client.engine?.isPlaying ?? false {
      throw violated(step, "the callback plays something that nobody owns")
    }
    if client.isRetired || client.engine?.sampleRate != client.sampleRate {
      throw violated(step, "the engine is of another sample rate than the server")
    }
    if client.unusedEngines != 0 { throw violated(step, "\(client.unusedEngines) engines keep their ports") }
    if processor.inForce != processor.wanted { throw violated(step, "the wanted setting was never applied") }
    var audible = client.audibleSetting
    audible?.want(processor.inForce.others)
    if audible != processor.inForce {
      throw violated(step, "status shows a setting that is not audible")
    }
    if !processor.areFeedsSettled { throw violated(step, "a feed is never as it is wanted") }
    let wanted = Dictionary(uniqueKeysWithValues: processor.wanted.others.map { ($0.name, $0) })
    if client.audibleFeeds != wanted, !pastEvents.contains(.feedFails) {
      throw violated(step, "the feeds \(client.audibleFeeds.values) play, and \(wanted.values) are wanted")
    }
    if let missing = client.audiblyMissing, missing != Set(client.readings.mutedMicrophones),
      !pastEvents.contains(.fallbackFails)
    {
      throw violated(step, "the filters in force do without \(missing)")
    }
    let last = rig.requests.last { $0.isAccepted }?.gain
    if let last, processor.inForce.main.gain.value != Rig.decibels(last), !wasOvertaken(last) {
      throw violated(step, "change \(last) was accepted last, and is not in force")
    }
  }

  /// A change of device that waits for the end of a take may never be applied.
  private func wasOvertaken(_ gain: Int) -> Bool {
    rig.requests.contains { $0.gain == gain && $0.status == .done && $0.isQueued }
      && !Set(pastEvents).isDisjoint(with: [
        .serverGoes, .rateChanges, .cancelChange, .prepareFails, .seconds, .graphStalls, .newClientRuns,
      ])
  }

  /// Advances only the clock: every wait ends, and every request is answered.
  private mutating func freeze(_ step: Int) throws {
    for take in rig.world.takes { take.unansweredFor = .seconds(20) }
    for round in 0..<34 {
      rig.world.now += round < 14 || round % 2 == 0 ? .milliseconds(1500) : .seconds(100)
      for take in rig.world.takes { take.unansweredFor += .milliseconds(1500) }
      rig.processor.poll()
      try check(step + round)
    }
    if let request = unanswered.first {
      throw violated(step, "only time passed, and \(request.event) was never answered")
    }
    let kind = rig.processor.state.kind
    // libjack opens one client at a time: only that attempt goes on, with a new limit and without a request.
    if kind.limit != nil, kind != .opening { throw violated(step, "it waits in \(kind) for ever") }
  }
}

extension Rig.SentRequest {
  /// The change is applied, or its answer says that it will be.
  fileprivate var isAccepted: Bool {
    switch outcome {
    case .done(let report): gain != nil && report is ChangeReport
    case .failed: isQueued
    case nil: false
    }
  }
  /// The change waits and may still be superseded.
  fileprivate var isQueued: Bool {
    if case .done(let report) = outcome { return (report as? ChangeReport)?.kept != nil }
    return gain != nil && text.contains("comes into force when they do")
  }
}
