/// A point or displacement in the device frame, in metres: x to the right and y up as seen by somebody
/// facing the screen, z out of the screen towards them. Right-handed.
public typealias Position = SIMD3<Double>

extension SIMD3<Double> {
  @inlinable public func dot(_ other: Self) -> Double { (self * other).sum() }

  @inlinable public func cross(_ other: Self) -> Self {
    Self(
      y * other.z - z * other.y,
      z * other.x - x * other.z,
      x * other.y - y * other.x)
  }

  @inlinable public var length: Double { dot(self).squareRoot() }
}

/// A unit vector that points from the origin towards something, such as a sound source or an edge of the device.
public struct Direction: Hashable, Sendable {
  public let vector: SIMD3<Double>

  /// The direction of `vector`; nil if its length is zero or not finite.
  public init?(_ vector: SIMD3<Double>) {
    let length = vector.length
    guard length > 1e-9, length.isFinite else { return nil }
    self.vector = vector / length
  }

  /// A unit vector, bit for bit; nil for another length.
  public static func exactly(_ vector: SIMD3<Double>) -> Direction? {
    abs(vector.length - 1) < 1e-9 ? Direction(unit: vector) : nil
  }

  private init(unit: SIMD3<Double>) { vector = unit }

  public static let plusX = Direction(unit: [1, 0, 0])
  public static let plusY = Direction(unit: [0, 1, 0])
  public static let plusZ = Direction(unit: [0, 0, 1])

  public var opposite: Direction { Direction(unit: -vector) }
}
