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
}

extension PoseReport {
  /// ", rolled by 30°, turned by -15°, following roll"; empty without a pose.
  package var poseText: String {
    (roll.map { ", rolled by \($0.inDegrees)" } ?? "") + (yaw.map { ", turned by \($0.inDegrees)" } ?? "")
      + (follow.map { ", following " + $0.map(\.rawValue).joined(separator: " and ") } ?? "")
  }
}

extension Double {
  /// "30°", or "12.5°".
  fileprivate var inDegrees: String { self == rounded() ? "\(Int(self))°" : "\(self)°" }
}

extension StatusReport.Preferred: PoseReport {
  package var follow: [Followed]? { nil }
}
