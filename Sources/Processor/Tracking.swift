import Acoustics
import Messages
import Realtime
import Recording
import Rendering

/// The pose that comes in, who speaks, and what the feeds that follow them play.
///
/// Thread: control thread; a value.
struct Tracking {
  /// Of the tracker, as it was received last.
  var latest: (pose: TrackedPose, instant: ContinuousClock.Instant)?
  var mounting = TrackerMounting()
  /// Whom looks follow: the loudest, or who was until somebody else is louder; nil before the first.
  private(set) var talker: TrackedTalker?
  /// Where looks that follow it are: its place when it last moved by more than `play`.
  private(set) var place: SIMD3<Double>?
  /// The engine's frame at the first of the take whose sidecar lists talkers.
  var listStart: Int?
  /// By name, what was sent last to the callback for a feed that follows.
  var sent: [String: Selection] = [:]
  /// By name, for what `sent` was chosen: the pose, and the version of the filters.
  var resolved: [String: (wanted: Selection, version: Int)] = [:]
  /// By name, what a feed played, from which frame of the engine on: since its last change.
  private var history: [String: [(frame: Int, selection: Selection)]] = [:]
  private static let historyLimit = 16_384

  /// The pose that counts; nil before the first.
  var pose: TrackedPose? { latest.map { mounting.pose($0.pose) } }

  /// By how many decibels another talker must be louder to be followed instead of one who still speaks.
  private static let lead = 6.0
  /// Cosine of the angle by which a talker may move before looks do, so that none goes to and fro between two of them.
  private static let play = 0.9986

  /// These are heard.
  mutating func hear(_ talkers: [TrackedTalker]) {
    let active = talkers.filter(\.isActive)
    guard let loudest = active.max(by: { $0.level < $1.level }) else { return }
    let present = active.first { $0.identity == talker?.identity }
    let chosen = present.map { $0.level + Self.lead >= loudest.level ? $0 : loudest } ?? loudest
    talker = chosen
    if place.map({ $0.dot(chosen.direction) < Self.play }) ?? true { place = chosen.direction }
  }

  /// Nobody looks for talkers any more: the next ones have other identities.
  mutating func forgetTalkers() { (talker, place) = (nil, nil) }

  /// The fade of a feed to another pose begins.
  mutating func began(_ feed: String, at frame: Int, _ selection: Selection) {
    history[feed, default: []].append((frame, selection))
    guard history[feed]!.count > Self.historyLimit else { return }
    history[feed]!.removeFirst(Self.historyLimit / 2)
    history[feed]![0].frame = .min
  }

  /// A change of a feed is in force, which plays `selection`; nil if it does not follow.
  mutating func changed(_ feed: String, _ selection: Selection?) {
    history[feed] = selection.map { [(.min, $0)] }
  }

  /// What the feeds that follow have played from `start` on, with frames from 0 at `start`.
  func history(from start: Int) -> [(feed: String, frame: Int, selection: Selection)] {
    history.sorted { $0.key < $1.key }.flatMap { feed, all in
      let first = all.last { $0.frame <= start }.map { [(feed, 0, $0.selection)] } ?? []
      return first + all.filter { $0.frame > start }.map { (feed, $0.frame - start, $0.selection) }
    }
  }

  /// Another engine runs from now on.
  mutating func reset() {
    (sent, resolved, history) = ([:], [:], [:])
    forgetTalkers()
  }
}
