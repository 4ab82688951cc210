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

  /// From the middle of the device.
  public var direction: Direction {
    switch self {
    case .left: Direction.plusX.opposite
    case .right: .plusX
    case .bottom: Direction.plusY.opposite
    case .top: .plusY
    case .back: Direction.plusZ.opposite
    case .front: .plusZ
    }
  }
}

/// Which edge of the device the left and right outputs represent, for one data source and input orientation.
public struct StereoLayout: Hashable, Sendable, Codable {
  /// Where left and right are on a device whose sides are not named after edges (`Device.namesEdges`), such as a ring,
  /// in words: "-x, microphone ring-4".
  public struct Sides: Hashable, Sendable, Codable {
    public let left: String
    public let right: String
  }

  public let left: DeviceEdge
  public let right: DeviceEdge
  /// Nil where edges name the sides.
  public let sides: Sides?

  public init(left: DeviceEdge, right: DeviceEdge, sides: Sides? = nil) {
    self.left = left
    self.right = right
    self.sides = sides
  }

  /// Left and right in words: "the top edge", or "-x, microphone ring-4".
  public var words: (left: String, right: String) {
    sides.map { ($0.left, $0.right) } ?? ("the \(left.rawValue) edge", "the \(right.rawValue) edge")
  }
}

extension Device {
  /// Where the left and right outputs point on this device.
  public func layout(_ frame: HeadFrame) -> StereoLayout {
    let edges = frame.layout
    guard !namesEdges else { return edges }
    return StereoLayout(
      left: edges.left, right: edges.right,
      sides: StereoLayout.Sides(left: side(towards: frame.left), right: side(towards: frame.right)))
  }

  /// "-x, microphone ring-4": the nearest axis of the device file, and the microphone farthest out on that side.
  private func side(towards direction: Direction) -> String {
    let inFile = placement.turned(direction.vector)
    let axis = (0..<3).max { abs(inFile[$0]) < abs(inFile[$1]) }!
    let name = (inFile[axis] < 0 ? "-" : "+") + ["x", "y", "z"][axis]
    let outwards = microphones.map { $0.position.dot(direction.vector) }
    guard let farthest = outwards.max(), let nearest = outwards.min(), farthest - nearest > 0.001 else {
      return name
    }
    // Of several equally far out, the one nearest to the axis.
    let candidates = microphones.indices.filter { farthest - outwards[$0] < 0.0005 }
    let microphone = candidates.min {
      (microphones[$0].position - outwards[$0] * direction.vector).length
        < (microphones[$1].position - outwards[$1] * direction.vector).length
    }!
    return "\(name), microphone \(microphones[microphone].name)"
  }
}
