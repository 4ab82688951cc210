/// A rigid sphere.
public struct RigidSphere: BodyShape {
  /// The radii that are allowed.
  public static let radii = 0.005...2.0

  public let radius: Double

  public func phrase(_ placement: Placement) -> String {
    "a sphere with a radius of \(millimetres(radius)) mm"
  }

  public var fault: String? {
    Self.radii.contains(radius) ? nil : "needs a radius of 5 to 2000 mm"
  }

  public func key(hash: (_ path: String) -> String) -> String { "sphere \(radius)" }

  public var reach: Double? { radius }

  public func nearestSurfacePoint(to position: Position) -> Position? {
    radius * (Direction(position) ?? .plusZ).vector
  }

  public func contains(_ position: Position) -> Bool { position.length < radius }

  public func extent(along axis: SIMD3<Double>, array: SIMD3<Double>) -> Double? { 2 * radius }

  public func isRound(along axis: SIMD3<Double>) -> Bool { true }
}

extension Body {
  /// - Parameter radius: in metres.
  public static func sphere(radius: Double) -> Body { .sphere(RigidSphere(radius: radius)) }
}
