#if canImport(Glibc)
  import Glibc
#endif

/// The pose that a head tracker, a gimbal or a phone reports, in degrees: yaw to the left, pitch up, and roll with the
/// left side up are positive. The tracker turns by yaw first, then by pitch, then by roll.
public struct TrackedPose: Hashable, Sendable {
  public let yaw: Double
  public let pitch: Double
  public let roll: Double
  /// The same without the angles' breaks near the vertical: from the tracker's axes (forward, left, up) to those of the room.
  let rotation: Rotation

  public init(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) {
    self.yaw = Angle.turned(yaw)
    self.pitch = max(-90, min(90, pitch))
    self.roll = Angle.turned(roll)
    rotation = Rotation(yaw: self.yaw, pitch: self.pitch, roll: self.roll)
  }

  init(_ rotation: Rotation) {
    self.rotation = rotation
    let (forward, left, up) = (rotation.forward, rotation.left, rotation.up)
    // Straight up or down, only the sum of yaw and roll is defined: it counts as yaw.
    let isVertical = abs(forward.z) > 0.999_999
    yaw = Angle.turned(
      Angle(radians: isVertical ? atan2(-left.x, left.y) : atan2(forward.y, forward.x)).degrees)
    pitch = Angle(radians: asin(max(-1, min(1, forward.z)))).degrees
    roll = isVertical ? 0 : Angle.turned(Angle(radians: atan2(left.z, up.z)).degrees)
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
    self.init(phone.after(Rotation(forward: [0, 0, -1], left: [-1, 0, 0], up: [0, 1, 0])))
  }
}

/// How a tracker is mounted on a head, as far as it is known, and what its poses mean: those of no angles, and which angle
/// is which.
public struct TrackerMounting: Sendable {
  /// What a wearer does in front of the tracker.
  public enum Step: Sendable { case centre, nod, turn }

  /// Which angles count as yaw, pitch and roll, and with which signs: "-yaw,pitch,roll".
  public struct Axes: Sendable, Hashable {
    /// For yaw, pitch and roll each: the index of yaw, pitch or roll, and 1 or -1.
    let sources: [(index: Int, sign: Double)]
    private static let names = ["yaw", "pitch", "roll"]

    public static let straight = Axes("yaw,pitch,roll")!

    /// Nil if `word` does not name each angle once.
    public init?(_ word: String) {
      let words = word.split(separator: ",", omittingEmptySubsequences: false)
      sources = words.compactMap { word in
        Self.names.firstIndex { word == $0 || word == "-\($0)" }.map { ($0, word.hasPrefix("-") ? -1 : 1) }
      }
      guard words.count == 3, Set(sources.map(\.index)).count == 3 else { return nil }
    }

    public static func == (a: Axes, b: Axes) -> Bool {
      a.sources.elementsEqual(b.sources) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(sources.map { $0.sign * Double($0.index + 1) })
    }

    func apply(to rotation: Rotation) -> Rotation {
      // Yaw turns about up, pitch about right, roll about forward.
      let parts = [rotation.v.z, -rotation.v.y, rotation.v.x]
      let taken = sources.map { $0.sign * parts[$0.index] }
      return Rotation(unit: rotation.w, [taken[2], -taken[1], taken[0]])
    }
  }

  public var axes = Axes.straight
  private var centre: Rotation?
  /// From the tracker's axes to those of the wearer, who looks straight ahead at the centre: measured, or as far as the
  /// centre says it.
  private var mounting: Rotation?
  private var isMeasured = false
  /// In the room's axes, since the last centre: left, about which the wearer has nodded, and up.
  private var nodAxis: SIMD3<Double>?
  private var turnAxis: SIMD3<Double>?

  public init() {}

  /// The least turn from the centre that calibrates, in degrees.
  public static let leastTurn = 10.0

  /// A pose counts as that of no angles, of a wearer who looks down, or of one who looks to the left.
  /// - Returns: false if it is too near the centre, or if there is none.
  public mutating func take(_ pose: TrackedPose, as step: Step) -> Bool {
    guard step != .centre else {
      centre = pose.rotation
      (nodAxis, turnAxis) = (nil, nil)
      if !isMeasured { mounting = pose.rotation.heading.inverse.after(pose.rotation) }
      return true
    }
    guard let centre, let mounting,
      let axis = pose.rotation.after(centre.inverse).axis(ofAtLeast: Self.leastTurn)
    else { return false }
    if step == .nod { nodAxis = axis } else { turnAxis = axis }
    // The wearer's axes in those of the room.
    let wearer = centre.after(mounting.inverse)
    let up = turnAxis ?? (isMeasured ? wearer.up : [0, 0, 1])
    let left = nodAxis ?? wearer.left
    guard let level = Direction(left - left.dot(up) * up)?.vector else { return false }
    self.mounting = Rotation(forward: level.cross(up), left: level, up: up).inverse.after(centre)
    isMeasured = true
    return true
  }

  /// The pose of the wearer, whatever the mounting.
  public func pose(_ tracked: TrackedPose) -> TrackedPose {
    guard let centre, let mounting else {
      return axes == .straight ? tracked : TrackedPose(axes.apply(to: tracked.rotation))
    }
    let turned = mounting.after(centre.inverse).after(tracked.rotation).after(mounting.inverse)
    return TrackedPose(axes.apply(to: turned))
  }
}

/// A rotation as a unit quaternion.
struct Rotation: Hashable {
  let w: Double
  let v: SIMD3<Double>

  init?(_ w: Double, _ v: SIMD3<Double>) {
    let length = (w * w + v.dot(v)).squareRoot()
    guard length > 1e-6, length.isFinite else { return nil }
    (self.w, self.v) = (w / length, v / length)
  }

  init(unit w: Double, _ v: SIMD3<Double>) { (self.w, self.v) = (w, v) }

  /// By angles in degrees, as a tracker turns.
  init(yaw: Double, pitch: Double = 0, roll: Double = 0) {
    func about(_ axis: SIMD3<Double>, _ degrees: Double) -> Rotation {
      let half = Angle.degrees(degrees).radians / 2
      return Rotation(unit: cos(half), sin(half) * axis)
    }
    // Pitch up is a rotation about right.
    self = about([0, 0, 1], yaw).after(about([0, -1, 0], pitch)).after(about([1, 0, 0], roll))
  }

  /// The rotation that brings the axes to these, which are orthogonal, of length 1, and right-handed.
  init(forward: SIMD3<Double>, left: SIMD3<Double>, up: SIMD3<Double>) {
    // Of the four numbers, the largest is computed from the trace, for precision.
    let squares = [
      1 + forward.x + left.y + up.z, 1 + forward.x - left.y - up.z, 1 - forward.x + left.y - up.z,
      1 - forward.x - left.y + up.z,
    ]
    let (a, b, c) = (left.z - up.y, up.x - forward.z, forward.y - left.x)
    let (d, e, f) = (forward.y + left.x, up.x + forward.z, left.z + up.y)
    let quaternion: (Double, SIMD3<Double>) =
      switch squares.indices.max(by: { squares[$0] < squares[$1] })! {
      case 0: (squares[0], [a, b, c])
      case 1: (a, [squares[1], d, e])
      case 2: (b, [d, squares[2], f])
      default: (c, [e, f, squares[3]])
      }
    self = Rotation(quaternion.0, quaternion.1) ?? Rotation(unit: 1, .zero)
  }

  var inverse: Rotation { Rotation(unit: w, -v) }
  var forward: SIMD3<Double> { turn([1, 0, 0]) }
  var left: SIMD3<Double> { turn([0, 1, 0]) }
  var up: SIMD3<Double> { turn([0, 0, 1]) }

  /// The turn about the room's up axis that its wearer has made, who looks where forward points; where that is rather up
  /// or down than ahead, as of a phone that lies flat, where up does.
  var heading: Rotation {
    let (forward, up) = (forward, up)
    let ahead = abs(forward.z) < 0.7071 ? forward : forward.z < 0 ? up : -up
    return Rotation(yaw: Angle(radians: atan2(ahead.y, ahead.x)).degrees)
  }

  /// The axis about which it turns counterclockwise; nil if it turns by less.
  /// - Parameter degrees: up to 180.
  func axis(ofAtLeast degrees: Double) -> SIMD3<Double>? {
    let length = v.length
    guard length >= sin(Angle.degrees(degrees).radians / 2) else { return nil }
    return (w < 0 ? -v : v) / length
  }

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
