#if canImport(Glibc)
  import Glibc
#endif

/// How the device and its listener are turned. Stereo and B-format stay level while the device rolls, and show what is
/// in front of the listener.
public struct Pose: Hashable, Sendable {
  /// Of the device about its forward axis, in degrees, above −180 and up to 180: positive if its left side is higher.
  public let roll: Double
  /// Of the listener about the up axis, in degrees, above −180 and up to 180: positive to the left.
  public let yaw: Double

  public static let none = Pose()

  /// - Parameters:
  ///   - roll, yaw: in degrees; finite.
  public init(roll: Double = 0, yaw: Double = 0) {
    (self.roll, self.yaw) = (Angle.turned(roll), Angle.turned(yaw))
  }

  /// "roll 5 yaw -10", as `pinna set` takes it.
  public var words: String { "roll \(roll.plain) yaw \(yaw.plain)" }

  /// "5.0 -10.0"
  package var angles: String { "\(roll) \(yaw)" }

  /// Nil if `words` are no such text.
  public init?(words: String) {
    let parts = words.split(separator: " ")
    guard parts.count == 4, let roll = Double(parts[1]), let yaw = Double(parts[3]) else { return nil }
    self.init(roll: roll, yaw: yaw)
  }

  /// How the axes lie that looks and talkers' angles are told in: level, and not turned with the listener.
  public var ofAxes: Pose { Pose(roll: roll) }

  /// The same with the listener turned further, and the device's left side raised, by degrees.
  public func turned(left: Double, up: Double) -> Pose { Pose(roll: roll + up, yaw: yaw + left) }

  /// The step of the poses that stereo filters are designed for, in degrees.
  public static let step = 5.0

  /// The poses whose filters are mixed for this one, and with which gains. The sum of the gains is 1.
  public var neighbours: [(pose: Pose, gain: Double)] {
    Self.neighbours(roll).flatMap { roll in
      Self.neighbours(yaw).map { yaw in
        (Pose(roll: roll.angle, yaw: yaw.angle), roll.gain * yaw.gain)
      }
    }
  }

  /// At the back, where designs that began on either side of the front meet, filters are not mixed.
  private static func neighbours(_ angle: Double) -> [(angle: Double, gain: Double)] {
    let below = (angle / step).rounded(.down) * step
    let part = (angle - below) / step
    if part == 0 { return [(angle, 1)] }
    if below <= -180 { return [(part < 0.5 ? 180 : below + step, 1)] }
    return [(below, 1 - part), (below + step, part)]
  }

  /// The next pose on the way to that of no angles, from whose filters those of this one are designed; nil at its end.
  public var inward: Pose? {
    func inward(_ angle: Double) -> Double {
      let steps = ((abs(angle) / Self.step).rounded(.up) - 1) * Self.step
      return angle < 0 ? -steps : steps
    }
    if yaw != 0 { return Pose(roll: roll, yaw: inward(yaw)) }
    return roll == 0 ? nil : Pose(roll: inward(roll))
  }
}

/// What of a selection follows the pose that comes in while Pinna runs, from a head tracker or a gimbal; `talker`: its look
/// follows who speaks.
public enum Followed: String, NamedWord, Codable, Comparable {
  case roll, yaw, look, talker
  public static let kind = "thing to follow"

  public static func < (a: Followed, b: Followed) -> Bool { a.rawValue < b.rawValue }
}

extension Selection {
  /// As it is reported: nil for none.
  public var roll: Double? { pose.roll == 0 ? nil : pose.roll }
  public var yaw: Double? { pose.yaw == 0 ? nil : pose.yaw }
  public var followed: [Followed]? { follows.isEmpty ? nil : follows.sorted() }
}

extension Angle {
  /// An angle in degrees, above −180 and up to 180.
  static func turned(_ degrees: Double) -> Double {
    let turned = remainder(degrees, 360)
    // Adding 0 turns -0.0 into 0.0.
    return (turned == -180 ? 180 : turned) + 0
  }
}

extension HeadFrame {
  /// The listener's axes with a pose.
  public func turned(by pose: Pose) -> HeadFrame {
    if pose == .none { return self }
    let (roll, yaw) = (Angle.degrees(pose.roll).radians, Angle.degrees(pose.yaw).radians)
    let levelLeft = cos(roll) * left.vector - sin(roll) * up.vector
    let levelUp = cos(roll) * up.vector + sin(roll) * left.vector
    return HeadFrame(
      forward: Direction(cos(yaw) * forward.vector + sin(yaw) * levelLeft)!, up: Direction(levelUp)!,
      right: Direction(sin(yaw) * forward.vector - cos(yaw) * levelLeft)!)
  }
}

extension DataSource {
  /// The listener's axes in an orientation, with the source's pose; nil if left and right are undefined then.
  public func frame(_ orientation: InputOrientation) -> HeadFrame? {
    HeadFrame(forward: forward, orientation: orientation)?.turned(by: pose)
  }
}

extension Device {
  /// The axes that looks and talkers' angles of a selection are told in.
  /// - Throws: `UnknownWord` if there is no such data source.
  public func axes(of selection: Selection) throws -> HeadFrame {
    frame(of: try dataSource(named: selection.dataSource), selection.inputOrientation).turned(
      by: selection.pose.ofAxes)
  }

  /// The device with one case: the stereo of `selection` with a pose. Its filters come from all microphones.
  /// - Throws: `UnknownWord` or `Unsupported` if the device does not offer the case.
  func turned(_ selection: Selection) throws -> Device {
    let filterCase = try filterCase(for: selection)
    let source = try dataSource(named: selection.dataSource)
    return try with(dataSources: [
      source.offering([filterCase.polarPattern], in: [selection.inputOrientation], with: selection.pose)
    ])
  }

  /// The same a step nearer to no pose; nil if it has none.
  package var inward: Device? {
    guard dataSources.count == 1, let pose = dataSources[0].pose.inward else { return nil }
    let source = dataSources[0]
    return try? with(dataSources: [
      source.offering(source.polarPatterns, in: source.stereoOrientations, with: pose)
    ])
  }
}
