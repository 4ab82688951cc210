/// An edge or face of a device, named as somebody facing its screen sees it.
public enum DeviceEdge: String, NamedWord, Codable {
  case left, right, bottom, top, back, front

  public static let kind = "device edge"

  /// The edge or face nearest to `direction`.
  public init(nearest direction: Direction) {
    let v = direction.vector
    let magnitude = SIMD3(abs(v.x), abs(v.y), abs(v.z))
    if magnitude.x >= magnitude.y, magnitude.x >= magnitude.z {
      self = v.x < 0 ? .left : .right
    } else if magnitude.y >= magnitude.z {
      self = v.y < 0 ? .bottom : .top
    } else {
      self = v.z < 0 ? .back : .front
    }
  }
}

/// Which edge of the device the left and right outputs represent, for one data source and input orientation.
public struct StereoLayout: Hashable, Sendable, Codable {
  public let left: DeviceEdge
  public let right: DeviceEdge

  public init(left: DeviceEdge, right: DeviceEdge) {
    self.left = left
    self.right = right
  }
}
