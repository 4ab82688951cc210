#if canImport(Glibc)
  import Glibc
#endif

/// The pose that a head tracker, a gimbal or a phone reports, in degrees: yaw to the left, pitch up, and roll with the
/// left side up are positive. The tracker turns by yaw first, then by pitch, then by roll.
public struct TrackedPose: Hashable, Sendable {
  public var yaw: Double
  public var pitch: Double
  public var roll: Double

  public init(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) {
    self.yaw = Angle.turned(yaw)
    self.pitch = max(-90, min(90, pitch))
    self.roll = Angle.turned(roll)
  }

  /// - Parameters:
  ///   - rotation: from the tracker's own axes to those of the room, of which the third points up.
  ///   - forward, left, up: of the tracker, in its own axes.
  init(
    _ rotation: Rotation, forward: SIMD3<Double> = [1, 0, 0], left: SIMD3<Double> = [0, 1, 0],
    up: SIMD3<Double> = [0, 0, 1]
  ) {
    let (forward, left, up) = (rotation.turn(forward), rotation.turn(left), rotation.turn(up))
    self.init(
      yaw: Angle(radians: atan2(forward.y, forward.x)).degrees,
      pitch: Angle(radians: asin(max(-1, min(1, forward.z)))).degrees,
      roll: Angle(radians: atan2(left.z, up.z)).degrees)
  }

  /// From a quaternion of the rotation from the tracker's axes (forward, left, up) to those of the room; nil if it is zero
  /// or not finite.
  public init?(w: Double, x: Double, y: Double, z: Double) {
    guard let rotation = Rotation(w, [x, y, z]) else { return nil }
    self.init(rotation)
  }

  /// From the rotation vector of a phone's sensors: the quaternion's x, y, z, and w where the phone sends it. Its axes are
  /// those of a device frame; forward is where the camera on the back looks, and up the top edge.
  public init?(rotationVector x: Double, _ y: Double, _ z: Double, w: Double? = nil) {
    let rest = 1 - x * x - y * y - z * z
    guard let phone = Rotation(w ?? max(0, rest).squareRoot(), [x, y, z]) else { return nil }
    self.init(phone, forward: [0, 0, -1], left: [-1, 0, 0], up: [0, 1, 0])
  }

  /// This pose as seen from another, which becomes that of no angles. A tracker may be mounted at any angle: its heading is
  /// taken off in the room, the rest of `centre` from the tracker's own axes.
  public func relative(to centre: TrackedPose) -> TrackedPose {
    if centre == TrackedPose() { return self }
    let heading = Rotation(TrackedPose(yaw: centre.yaw))
    return TrackedPose(
      heading.inverse.after(Rotation(self)).after(Rotation(centre).inverse).after(heading))
  }
}

/// A rotation as a unit quaternion.
struct Rotation {
  let w: Double
  let v: SIMD3<Double>

  init?(_ w: Double, _ v: SIMD3<Double>) {
    let length = (w * w + v.dot(v)).squareRoot()
    guard length > 1e-6, length.isFinite else { return nil }
    (self.w, self.v) = (w / length, v / length)
  }

  private init(unit w: Double, _ v: SIMD3<Double>) { (self.w, self.v) = (w, v) }

  init(_ pose: TrackedPose) {
    func about(_ axis: SIMD3<Double>, _ degrees: Double) -> Rotation {
      let half = Angle.degrees(degrees).radians / 2
      return Rotation(unit: cos(half), sin(half) * axis)
    }
    // Pitch up is a rotation about right.
    self = about([0, 0, 1], pose.yaw).after(about([0, -1, 0], pose.pitch)).after(about([1, 0, 0], pose.roll))
  }

  var inverse: Rotation { Rotation(unit: w, -v) }

  /// The rotation that does `first`, then this.
  func after(_ first: Rotation) -> Rotation {
    Rotation(unit: w * first.w - v.dot(first.v), w * first.v + first.w * v + v.cross(first.v))
  }

  func turn(_ vector: SIMD3<Double>) -> SIMD3<Double> {
    let t = 2 * v.cross(vector)
    return vector + w * t + v.cross(t)
  }
}

extension Selection {
  /// What is played while the tracker has a pose and somebody speaks: what follows them turns, in steps.
  /// - Parameter talker: a unit vector of the device frame; nil before somebody has spoken.
  public func following(
    _ tracked: TrackedPose?, talker: SIMD3<Double>? = nil, on device: Device
  ) -> Selection {
    var turned = self
    turned.follows = []
    if polarPattern.isOriented { turned.look = nil } else { turned.pose = .none }
    if follows.contains(.talker), polarPattern.hasLook, let direction = talker.flatMap(Direction.init) {
      turned.look = look(at: direction, on: device)
      return turned
    }
    guard let tracked, !follows.isEmpty else { return turned }
    if polarPattern.isOriented {
      // Finer than anybody hears, and few enough to keep.
      turned.pose = Pose(
        roll: follows.contains(.roll) ? tracked.roll.rounded() : pose.roll,
        yaw: follows.contains(.yaw) ? tracked.yaw.rounded() : pose.yaw)
    } else if follows.contains(.look), polarPattern.hasLook {
      let look = look ?? .ahead
      let hasHeight = frame(on: device).map { device.hasHeight(along: $0.up) } ?? false
      turned.look = look.turned(left: tracked.yaw, up: hasHeight ? tracked.pitch : 0).onGrid(hasHeight)
    }
    return turned
  }

  private func look(at direction: Direction, on device: Device) -> Look? {
    guard let frame = frame(on: device) else { return look }
    let hasHeight = device.hasHeight(along: frame.up)
    let found = Look(direction, from: frame).onGrid(hasHeight)
    return hasHeight ? found : Look(azimuth: found.azimuth, elevation: look?.elevation ?? 0)
  }

  private func frame(on device: Device) -> HeadFrame? {
    (try? device.dataSource(named: dataSource)).map { device.frame(of: $0, inputOrientation) }
  }
}

extension Look {
  /// The nearest look that filters are designed for while something moves.
  fileprivate func onGrid(_ hasHeight: Bool) -> Look {
    func grid(_ degrees: Double) -> Double { (degrees / Pose.step).rounded() * Pose.step }
    return Look(azimuth: grid(azimuth), elevation: hasHeight ? grid(elevation) : elevation)!
  }
}
