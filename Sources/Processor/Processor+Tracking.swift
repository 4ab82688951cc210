import Acoustics
import Messages
import Realtime
import Recording
import Rendering

/// Feeds that follow a pose. It is an input, like the microphones: it moves the image during takes, too.
extension Processor {
  /// A pose has come in.
  package func track(_ pose: TrackedPose) {
    tracking.latest = (pose, world.now)
    pollTracking()
  }

  /// Takes the tracker's present pose for that of no angles.
  /// - Throws: if none has come in.
  package func centre() throws(Failure) {
    guard let latest = tracking.latest else {
      throw Failure(.failed, "no pose has come in; send one first, such as /ypr, to the port of --pose-port")
    }
    tracking.centre = latest.pose
    pollTracking()
  }

  /// As it came in last; nil before the first.
  package var trackedPose: TrackedPose? { tracking.latest?.pose }

  /// Whether any feed follows with it.
  package func follows(_ followed: Followed) -> Bool {
    ([wanted.selection] + wanted.feeds.map(\.selection)).contains { $0.follows.contains(followed) }
  }

  /// The pose that counts, seen from the centre; nil before the first.
  package var trackerReport: StatusReport.TrackerReport? {
    tracking.latest.map { latest in
      let pose = latest.pose.relative(to: tracking.centre)
      return .init(
        yaw: pose.yaw, pitch: pose.pitch, roll: pose.roll,
        secondsAgo: max(.zero, world.now - latest.instant) / .seconds(1))
    }
  }

  /// Decides what a selection that follows plays from now on, among that for which there are filters.
  /// - Returns: nil if it does not follow.
  @discardableResult func turn(_ selection: Selection, of device: Device) -> Selection? {
    guard !selection.follows.isEmpty, let filters else { return nil }
    let wanted = selection.following(tracking.pose, on: device)
    return onDemand.choice.turn(selection, to: wanted, of: device, filters)
  }

  /// Fades the feeds that follow to the present pose, as far as there are filters.
  func pollTracking() {
    guard let client, state.isInGraph, mayTurn else { return }
    for (name, selection) in following where isFree(name) {
      let pose = selection.following(tracking.pose, on: wanted.device)
      let last = tracking.resolved[name]
      if last?.wanted == pose, last?.version == onDemand.choice.version { continue }
      guard let turned = turn(selection, of: wanted.device) else { continue }
      if turned == tracking.sent[name] {
        tracking.resolved[name] = (pose, onDemand.choice.version)
        continue
      }
      client.use(onDemand.choice)
      if substitute([name]) { tracking.resolved[name] = (pose, onDemand.choice.version) }
    }
  }

  /// The feeds that follow, and `main`.
  var following: [(name: String, selection: Selection)] {
    let main = wanted.listening == nil ? [(name: Feed.main, selection: wanted.selection)] : []
    return (main + wanted.feeds.map { ($0.name, $0.selection) }).filter { !$0.selection.follows.isEmpty }
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
    if name == Feed.main { return heard.pending.isEmpty }
    return feeds.current[name] == nil && feeds.inForce[name] == wanted.feeds.first { $0.name == name }
  }

  // MARK: Reports

  /// Lists in the sidecar what the feeds that follow played when a take began, pre-roll included.
  /// - Parameter frame: the engine's frame with which the take began after its pre-roll.
  func noteTurns(in take: any TakeRecording, from frame: Int) {
    for (feed, frame, selection) in tracking.history(from: frame - take.preRollFrames) {
      take.addTurn(Sidecar.Turn(selection, frame: frame, feed: Substitution.file(feed)))
    }
  }
}
