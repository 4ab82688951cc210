/// The listener's axes in one stereo case. Forward f comes from the data source, up u from the input orientation,
/// and right is f × u.
public struct HeadFrame: Hashable, Sendable {
  public let forward: Direction
  public let up: Direction
  public let right: Direction
  public var left: Direction { right.opposite }

  init(forward: Direction, up: Direction, right: Direction) {
    (self.forward, self.up, self.right) = (forward, up, right)
  }

  /// Nil if the orientation's up is parallel to `forward`, because left and right are then undefined.
  /// An up that is not perpendicular to `forward` is projected onto the plane perpendicular to it.
  public init?(forward: Direction, orientation: InputOrientation) {
    let up = orientation.up
    guard abs(forward.vector.dot(up.vector)) < 0.999,
      let right = Direction(forward.vector.cross(up.vector)),
      let perpendicularUp = Direction(right.vector.cross(forward.vector))
    else { return nil }
    self.forward = forward
    self.up = perpendicularUp
    self.right = right
  }

  /// The listener of a mono pattern, which does not depend on the input orientation: see
  /// `InputOrientation.ofMono(along:)`.
  public init(mono forward: Direction) {
    self = HeadFrame(forward: forward, orientation: .ofMono(along: forward))!
  }

  /// Converts a device-frame vector to head coordinates (forward, left, up), the convention of SOFA and HRTF files.
  public func head(fromDevice vector: SIMD3<Double>) -> SIMD3<Double> {
    [vector.dot(forward.vector), vector.dot(left.vector), vector.dot(up.vector)]
  }

  /// Converts a vector in head coordinates (forward, left, up) to the device frame.
  public func device(fromHead vector: SIMD3<Double>) -> SIMD3<Double> {
    vector.x * forward.vector + vector.y * left.vector + vector.z * up.vector
  }

  /// The device-frame direction of a source at `azimuth` (positive to the listener's left) and `elevation`
  /// (positive upwards).
  public func direction(azimuth: Angle, elevation: Angle = .degrees(0)) -> Direction {
    Direction(device(fromHead: sphericalUnit(azimuth: azimuth, elevation: elevation)))!
  }

  /// Which edge of the device is on the left and which on the right.
  public var layout: StereoLayout {
    StereoLayout(left: DeviceEdge(nearest: left), right: DeviceEdge(nearest: right))
  }
}

extension InputOrientation {
  /// The orientation in which mono patterns are described and checked: portrait, or landscapeRight if `forward` is
  /// along the device's y axis.
  public static func ofMono(along forward: Direction) -> InputOrientation {
    HeadFrame(forward: forward, orientation: .portrait) == nil ? .landscapeRight : .portrait
  }
}
