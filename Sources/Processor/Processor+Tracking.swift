import Acoustics
import Messages
import Realtime
import Recording
import Rendering
import Settings

/// Feeds that follow a pose or a talker. These are inputs, like the microphones: they move the image during takes, too.
extension Processor {
  /// A pose has come in.
  package func track(_ pose: TrackedPose) {
    tracking.latest = (pose, world.now)
    pollTracking()
  }

  /// Takes the tracker's present pose for that of no angles, or for that of a wearer who looks down or to the left.
  /// - Throws: if none has come in, or none that says anything.
  package func calibrateTracker(_ step: TrackerMounting.Step) throws(Failure) {
    guard let latest = tracking.latest else {
      throw Failure(.failed, "no pose has come in; send one first, such as /ypr, to the port of --pose-port")
    }
    guard tracking.mounting.take(latest.pose, as: step) else {
      throw Failure(
        .failed,
        "the head is where it was for --centre; look straight ahead for pinna set --centre, then some 30° down for --nod, "
          + "and to the left for --turn")
    }
    pollTracking()
  }

  /// Which angles of trackers count as which.
  package func takeTracker(_ axes: TrackerMounting.Axes) { tracking.mounting.axes = axes }

  /// As it came in last; nil before the first.
  package var trackedPose: TrackedPose? { tracking.latest?.pose }

  /// Whether any feed follows with it.
  package func follows(_ followed: Followed) -> Bool {
    wanted.feeds.contains { $0.selection.follows.contains(followed) }
  }

  /// The pose that counts, seen from the centre; nil before the first.
  package var trackerReport: StatusFields.TrackerReport? {
    tracking.latest.map { latest in
      let pose = tracking.mounting.pose(latest.pose)
      return .init(pose, secondsAgo: max(.zero, world.now - latest.instant) / .seconds(1))
    }
  }

  /// Decides what a selection that follows plays from now on, among that for which there are filters.
  /// - Returns: nil if it does not follow.
  @discardableResult func turn(_ selection: Selection, of device: Device) -> Selection? {
    guard !selection.follows.isEmpty, let filters else { return nil }
    let wanted = selection.following(tracking.pose, talker: tracking.place, on: device)
    return onDemand.choice.turn(selection, to: wanted, of: device, filters)
  }

  /// Fades the feeds that follow to the present pose, as far as there are filters.
  func pollTracking() {
    guard let client, state.isInGraph, mayTurn else { return }
    for (name, selection) in following where isFree(name) {
      let pose = selection.following(
        tracking.pose, talker: tracking.place, on: wanted.device)
      let last = machines[name]?.turn.resolved
      if last?.wanted == pose, last?.version == onDemand.choice.version { continue }
      guard let turned = turn(selection, of: wanted.device) else { continue }
      if turned != machines[name]?.turn.sent {
        client.use(onDemand.choice)
        guard substitute([name]) else { continue }
      }
      machines[name]?.turn.resolved = (pose, onDemand.choice.version)
    }
  }

  /// The feeds that follow, and `main`.
  var following: [(name: String, selection: Selection)] {
    wanted.played.filter { !$0.selection.follows.isEmpty }.map { ($0.name, $0.selection) }
  }

  /// A take begins between fades, so none may begin until it has. Filters without missing microphones come first.
  private var mayTurn: Bool {
    switch state.kind {
    case .live, .recording, .endingTake, .playing, .openingTake, .openingPlayback, .endingPlayback:
      fallback.inForce == fallback.chosen
    default: false
    }
  }

  /// Whether no change of a feed is under way, whose sender would be told that it was superseded.
  private func isFree(_ name: String) -> Bool {
    guard let machine = machines[name], machine.isSteady, !machine.isChanging else { return false }
    return machine.inForce == (try? wanted.feed(named: name))
  }

  // MARK: Talkers

  /// Looks for talkers as far as something needs them, and takes over who is heard.
  func hear(_ readings: Readings) {
    client?.findTalkers(followsTalkers, lacksMicrophone: !fallback.watch.missing.isEmpty)
    guard let talkers = trustedTalkers(readings) else { return tracking.forgetTalkers() }
    tracking.hear(talkers)
    if state.kind == .recording, let take = state.take?.take { listTalkers(in: take) }
  }

  /// Lists in the sidecar who has begun, moved or ceased since the last call.
  func listTalkers(in take: any TakeRecording) {
    guard let start = tracking.listStart, let frame = talkerFrame else { return }
    let hasHeight = inForce.device.hasHeight(along: frame.up)
    for change in client?.takeTalkers() ?? [] {
      take.add(Sidecar.Talker(change, from: start, in: frame, hasHeight: hasHeight))
    }
  }

  /// Whether a look follows talkers.
  var followsTalkers: Bool {
    following.contains { $0.selection.follows.contains(.talker) && $0.selection.polarPattern.hasLook }
  }

  /// Those of an array whose microphones all work and are heard now: directions are found with all of them.
  private func trustedTalkers(_ readings: Readings) -> [TrackedTalker]? {
    distrust(readings) == nil ? readings.talkers : nil
  }

  private func distrust(_ readings: Readings) -> String? {
    switch serverState {
    case .running: break
    case .stalled: return "no periods reach Pinna"
    default: return "the server does not run"
    }
    return fallback.watch.missing.isEmpty && readings.mutedMicrophones.isEmpty
      ? nil : "a microphone is missing"
  }

  /// The axes that talkers' angles are told in: those of the look of `main`.
  private var talkerFrame: HeadFrame? { try? inForce.device.axes(of: inForce.main.selection) }

  /// Who is heard; nil while nobody looks for talkers.
  func talkerReports(_ readings: Readings) -> [TalkerReport]? {
    guard let talkers = trustedTalkers(readings), let frame = talkerFrame else { return nil }
    let hasHeight = inForce.device.hasHeight(along: frame.up)
    let places = talkers.compactMap { talker in
      talker.look(from: frame, hasHeight: hasHeight).map { (talker: talker.identity, look: $0) }
    }
    let names = Seat.names(inForce.seats, of: places)
    return talkers.map {
      TalkerReport($0, name: names[$0.identity], from: frame, hasHeight: hasHeight)
    }
  }

  /// Why nobody is told although somebody was asked for; nil if somebody is, or was not.
  func talkersText(_ readings: Readings) -> String? {
    (readings.talkers == nil ? nil : distrust(readings)) ?? readings.talkersText
  }

  /// The answer to `/pinna/talkers`.
  package var talkersAnswer: TalkersAnswer {
    get throws(Failure) {
      let readings = client?.readings ?? Readings()
      if let talkers = talkerReports(readings) { return TalkersAnswer(talkers: talkers) }
      throw Failure(
        .failed,
        talkersText(readings).map { "talkers are not told: \($0)" }
          ?? "talkers are not looked for; start pinna run --talkers, or let stereo adapt: pinna set --adapt 1"
      )
    }
  }

  /// For each talker identity, azimuth and elevation in degrees, level in dB and confidence, 0 for one who is silent. Nil
  /// while nobody looks for talkers.
  func talkersMessage(_ readings: Readings) -> OSCMessage? {
    talkerReports(readings).map { talkers in
      OSCMessage(
        "/pinna/talkers",
        talkers.flatMap { talker -> [OSCMessage.Argument] in
          [
            .integer(Int32(clamping: talker.identity)), .float(Float(talker.azimuth)),
            .float(Float(talker.elevation ?? 0)), .float(Float(talker.levelDB)),
            .float(Float(talker.confidence)),
          ]
        })
    }
  }

  // MARK: Reports

  /// Lists in the sidecar what the feeds that follow played when a take began, pre-roll included.
  /// - Parameter frame: the engine's frame with which the take began after its pre-roll.
  func noteTurns(in take: any TakeRecording, from frame: Int) {
    for (name, machine) in machines.sorted(by: { $0.key < $1.key }) {
      for (frame, selection) in machine.turn.history(from: frame - take.preRollFrames) {
        take.addTurn(Sidecar.Turn(selection, frame: frame, feed: name))
      }
    }
  }
}

extension TalkerReport {
  init(_ talker: TrackedTalker, name: String?, from frame: HeadFrame, hasHeight: Bool) {
    let look = talker.look(from: frame, hasHeight: hasHeight) ?? .ahead
    func tenth(_ number: Double) -> Double { (number * 10).rounded() / 10 + 0 }
    self.init(
      identity: talker.identity, name: name ?? "talker \(talker.identity)", azimuth: tenth(look.azimuth),
      elevation: hasHeight ? tenth(look.elevation) : nil, levelDB: max(-150, tenth(talker.level)),
      confidence: (talker.confidence * 100).rounded() / 100, isActive: talker.isActive)
  }
}
