/// A rigid box.
public struct RigidBox: BodyShape {
  /// The edge lengths that are allowed.
  public static let edgeLengths = 0.001...0.5

  /// Edge lengths along x, y, z.
  public let size: SIMD3<Double>

  /// - Parameter size: edge lengths along x, y, z.
  public init(size: SIMD3<Double>) { self.size = size }

  public func phrase(_ placement: Placement) -> String {
    let inFile = placement.turned(size)
    return "a box of \((0..<3).map { millimetres(abs(inFile[$0])) }.joined(separator: " × ")) mm"
  }

  public var fault: String? {
    (0..<3).allSatisfy { Self.edgeLengths.contains(size[$0]) } ? nil : "needs edges of 1 to 500 mm"
  }

  public func key(hash: (_ path: String) -> String) -> String { "box \(size.x) \(size.y) \(size.z)" }

  public func setDefaults(of design: inout DesignParameters) {
    // Above this frequency no pair of microphones on a box can match the phases of a first-order pattern.
    design.mono.highestCrossover = Hertz(1300)
  }

  public var reach: Double? { size.length / 2 }

  public var hasEdges: Bool { true }

  public func nearestSurfacePoint(to position: Position) -> Position? {
    var point = position.clamped(lowerBound: -size / 2, upperBound: size / 2)
    guard contains(position) else { return point }
    let gaps = size / 2 - SIMD3(abs(point.x), abs(point.y), abs(point.z))
    let axis = (0..<3).first { gaps[$0] == gaps.min() } ?? 0
    point[axis] = (point[axis] < 0 ? -size : size)[axis] / 2
    return point
  }

  public func contains(_ position: Position) -> Bool {
    (0..<3).allSatisfy { abs(position[$0]) < size[$0] / 2 }
  }

  public func extent(along axis: SIMD3<Double>, array: SIMD3<Double>) -> Double? {
    (size * SIMD3(abs(axis.x), abs(axis.y), abs(axis.z))).sum()
  }
}

extension Body {
  /// - Parameter size: edge lengths along x, y, z, in metres.
  public static func box(size: SIMD3<Double>) -> Body { .box(RigidBox(size: size)) }
}
