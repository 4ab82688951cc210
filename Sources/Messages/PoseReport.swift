import Acoustics
import Settings
import Text

extension Selection {
  /// ", rolled by 30°, turned by -15°, following roll"; empty without a pose.
  /// - Parameter tracker: the pose that comes in: its angles take the place of those that are set.
  package func poseText(with tracker: StatusFields.TrackerReport? = nil) -> String {
    func set(_ angle: Double?, _ followed: Followed, _ words: String) -> String {
      tracker != nil && follows.contains(followed) ? "" : angle.map { "\(words)\($0.plain)°" } ?? ""
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
      + (followed.map { ", following " + $0.map(inForce).joined(separator: " and ") } ?? "")
  }

  /// The pose in force of stereo and B-format: what follows the tracker has its angle.
  package func pose(with tracker: StatusFields.TrackerReport?) -> Pose {
    guard polarPattern.isOriented else { return .none }
    func angle(_ angle: Double, _ tracked: Double?, _ followed: Followed) -> Double {
      (follows.contains(followed) ? tracked : nil) ?? angle
    }
    return Pose(roll: angle(pose.roll, tracker?.roll, .roll), yaw: angle(pose.yaw, tracker?.yaw, .yaw))
  }
}

extension StatusReport {
  /// The pose that comes in, as a sentence without a full stop; nil before one does.
  package var trackerText: String? { self.tracker?.text }
}

extension StatusFields.TrackerReport {
  /// "head tracker: yaw 12°, pitch 0°, roll -3°", and for how long none has come.
  package var text: String {
    String(format: "head tracker: yaw %.0f°, pitch %.0f°, roll %.0f°", yaw, pitch, roll)
      + (secondsAgo < 2 ? "" : String(format: "; nothing for %.0f s", secondsAgo))
  }
}
