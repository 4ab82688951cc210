import Acoustics
import Text

/// How device and listener are turned, as reports tell it.
package protocol PoseReport {
  /// Of the device, in degrees; nil for none.
  var roll: Double? { get }
  /// Of the listener, in degrees; nil for none.
  var yaw: Double? { get }
  /// What follows the pose that comes in; nil for nothing.
  var follow: [Followed]? { get }
  /// That pose, where the report has it; nil before one comes in.
  var tracker: StatusReport.TrackerReport? { get }
}

extension PoseReport {
  package var tracker: StatusReport.TrackerReport? { nil }

  /// ", rolled by 30°, turned by -15°, following roll"; empty without a pose.
  package var poseText: String { poseText(with: tracker) }

  /// - Parameter tracker: the pose that comes in: its angles take the place of those that are set.
  package func poseText(with tracker: StatusReport.TrackerReport?) -> String {
    func set(_ angle: Double?, _ followed: Followed, _ words: String) -> String {
      tracker != nil && follow?.contains(followed) == true ? "" : angle.map { "\(words)\($0.plain)°" } ?? ""
    }
    func inForce(_ followed: Followed) -> String {
      let angles: String? =
        switch followed {
        case .roll: tracker.map { String(format: "%.0f°", $0.roll) }
        case .yaw: tracker.map { String(format: "%.0f°", $0.yaw) }
        case .look: tracker.map { String(format: "%.0f°, %.0f° up", $0.yaw, $0.pitch) }
        case .talker: nil
        }
      return followed.rawValue + (angles.map { " (\($0))" } ?? "")
    }
    return set(roll, .roll, ", rolled by ") + set(yaw, .yaw, ", turned by ")
      + (follow.map { ", following " + $0.map(inForce).joined(separator: " and ") } ?? "")
  }
}

extension FeedReport {
  /// The pose in force of stereo and B-format: what follows the tracker has its angle.
  package func pose(with tracker: StatusReport.TrackerReport?) -> Pose {
    guard polarPattern.isOriented else { return .none }
    func angle(_ angle: Double?, _ tracked: Double?, _ followed: Followed) -> Double {
      (follow?.contains(followed) == true ? tracked : nil) ?? angle ?? 0
    }
    return Pose(
      roll: angle(roll, tracker?.roll, .roll), yaw: angle(yaw, tracker?.yaw, .yaw))
  }
}

extension StatusReport {
  /// The pose that comes in, as a sentence without a full stop; nil before one does.
  package var trackerText: String? { tracker?.text }
}

extension StatusReport.TrackerReport {
  /// "head tracker: yaw 12°, pitch 0°, roll -3°", and for how long none has come.
  package var text: String {
    String(format: "head tracker: yaw %.0f°, pitch %.0f°, roll %.0f°", yaw, pitch, roll)
      + (secondsAgo < 2 ? "" : String(format: "; nothing for %.0f s", secondsAgo))
  }
}
