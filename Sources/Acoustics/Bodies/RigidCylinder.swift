/// A rigid cylinder without ends, whose axis is the device's y axis.
public struct RigidCylinder: BodyShape {
  /// The radii that are allowed.
  public static let radii = 0.005...2.0

  public let radius: Double

  public func phrase(_ placement: Placement) -> String {
    "a cylinder with a radius of \(millimetres(radius)) mm"
  }

  public var fault: String? {
    Self.radii.contains(radius) ? nil : "needs a radius of 5 to 2000 mm"
  }

  public func key(hash: (_ path: String) -> String) -> String { "cylinder \(radius)" }

  public var reach: Double? { radius }

  public func nearestSurfacePoint(to position: Position) -> Position? {
    radius * (Direction([position.x, 0, position.z]) ?? .plusZ).vector + [0, position.y, 0]
  }

  public func contains(_ position: Position) -> Bool { SIMD3(position.x, 0, position.z).length < radius }

  /// As high as the array, and a radius more at each end.
  public func extent(along axis: SIMD3<Double>, array: SIMD3<Double>) -> Double? {
    2 * radius + abs(axis.y) * array.y
  }

  public func isRound(along axis: SIMD3<Double>) -> Bool { abs(axis.y) > 0.9 }
}

extension Body {
  /// - Parameter radius: in metres.
  public static func cylinder(radius: Double) -> Body { .cylinder(RigidCylinder(radius: radius)) }
}
