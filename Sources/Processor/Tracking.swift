import Acoustics
import Messages
import Realtime
import Rendering

/// The pose that comes in, and what the feeds that follow it play.
///
/// Thread: control thread; a value.
struct Tracking {
  /// Of the tracker, as it was received last.
  var latest: (pose: TrackedPose, instant: ContinuousClock.Instant)?
  /// The tracker's pose that counts as that of no angles.
  var centre = TrackedPose()
  /// By name, what was sent last to the callback for a feed that follows.
  var sent: [String: Selection] = [:]
  /// By name, for what `sent` was chosen: the pose, and the version of the filters.
  var resolved: [String: (wanted: Selection, version: Int)] = [:]
  /// By name, what a feed played, from which frame of the engine on: since its last change.
  private var history: [String: [(frame: Int, selection: Selection)]] = [:]
  private static let historyLimit = 16_384

  /// The pose that counts; nil before the first.
  var pose: TrackedPose? { latest?.pose.relative(to: centre) }

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
  mutating func reset() { (sent, resolved, history) = ([:], [:], [:]) }
}
