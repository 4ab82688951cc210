import Acoustics
import Messages
import Realtime
import Recording
import Rendering

/// The pose that comes in, and who speaks.
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
}
