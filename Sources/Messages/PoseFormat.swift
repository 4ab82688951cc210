import Acoustics
import Settings
import Text

/// How a message tells a pose.
package enum PoseFormat: Sendable, Equatable {
  /// Roll or yaw, as `pinna set` has them.
  case roll, yaw
  /// Yaw, pitch, roll.
  case angles
  case yawAlone
  /// w, x, y, z: from the axes of the tracker (forward, left, up) to those of the room.
  case quaternion
  /// x, y, z and perhaps w, as Android's sensors have it.
  case rotationVector

  /// The numbers of a message.
  /// - Throws: a `Failure` that says which word is none.
  package static func numbers(_ words: [String]) throws(Failure) -> [Double] {
    var numbers: [Double] = []
    for word in words {
      guard let number = word.decimal, abs(number) < 1e6 else {
        throw Failure(.usage, "\(word.quoted) is no part of a pose; give numbers")
      }
      numbers.append(number)
    }
    return numbers
  }

  /// - Parameters:
  ///   - numbers: as many as the format has.
  ///   - isInRadians: whether angles are in radians.
  ///   - present: what the message does not tell stays.
  /// - Returns: nil for numbers that are no rotation.
  package func pose(_ numbers: [Double], isInRadians: Bool, present: TrackedPose) -> TrackedPose? {
    let angles = isInRadians ? numbers.map { Angle(radians: $0).degrees } : numbers
    switch self {
    case .roll: return TrackedPose(yaw: present.yaw, pitch: present.pitch, roll: angles[0])
    case .yaw, .yawAlone: return TrackedPose(yaw: angles[0], pitch: present.pitch, roll: present.roll)
    case .angles: return TrackedPose(yaw: angles[0], pitch: angles[1], roll: angles[2])
    case .quaternion: return TrackedPose(w: numbers[0], x: numbers[1], y: numbers[2], z: numbers[3])
    case .rotationVector:
      return TrackedPose(
        rotationVector: numbers[0], numbers[1], numbers[2], w: numbers.count > 3 ? numbers[3] : nil)
    }
  }
}
