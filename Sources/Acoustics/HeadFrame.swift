/// The listener's axes in one stereo case: forward f from the data source, up u from the input orientation,
/// right = f × u.
public struct HeadFrame: Hashable, Sendable {
  public let forward: Direction
  public let up: Direction
  public let right: Direction
  public var left: Direction { right.opposite }

  /// Nil where the orientation's up is parallel to forward: then left and right do not exist.
  /// An up that is not perpendicular is turned to the nearest one that is.
  public init?(forward: Direction, orientation: InputOrientation) {
    let up = orientation.up
    guard abs(forward.vector.dot(up.vector)) < 0.999,
      let right = Direction(forward.vector.cross(up.vector)),
      let level = Direction(right.vector.cross(forward.vector))
    else { return nil }
    self.forward = forward
    self.up = level
    self.right = right
  }

  /// A device-frame vector in head coordinates (forward, left, up), as HRTF files use them.
  public func head(fromDevice vector: SIMD3<Double>) -> SIMD3<Double> {
    [vector.dot(forward.vector), vector.dot(left.vector), vector.dot(up.vector)]
  }

  /// A head vector (forward, left, up) in the device frame.
  public func device(fromHead vector: SIMD3<Double>) -> SIMD3<Double> {
    vector.x * forward.vector + vector.y * left.vector + vector.z * up.vector
  }

  /// The device-frame direction of a source seen at `azimuth` (positive to the left) and `elevation`.
  public func direction(azimuth: Angle, elevation: Angle = .degrees(0)) -> Direction {
    Direction(device(fromHead: sphericalUnit(azimuth: azimuth, elevation: elevation)))!
  }

  /// Which edge of the device is left and which is right.
  public var layout: StereoLayout {
    StereoLayout(left: DeviceEdge(nearest: left), right: DeviceEdge(nearest: right))
  }
}
