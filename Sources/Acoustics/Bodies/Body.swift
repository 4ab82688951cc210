import Text

/// The body that the microphones are mounted on, which determines the array manifold.
///
/// Each case holds a type that answers for this body: see `BodyShape`.
public enum Body: Hashable, Sendable {
  case free
  case sphere(RigidSphere)
  case cylinder(RigidCylinder)
  case box(RigidBox)
  case measured(ArrayMeasurement)

  /// What answers every question about the body but how sound passes it, which `Manifolds` knows.
  public var shape: any BodyShape {
    switch self {
    case .free: FreeField()
    case .sphere(let sphere): sphere
    case .cylinder(let cylinder): cylinder
    case .box(let box): box
    case .measured(let measurement): measurement
    }
  }
}

/// What a body answers about itself. Lengths are in metres, vectors in the device frame; a body of known shape is
/// centred at the origin.
///
/// The defaults are those of a body whose shape is unknown, or of none.
public protocol BodyShape: Hashable, Sendable {
  /// The body in words, with lengths along the axes of the device file: "a sphere with a radius of 42 mm".
  func phrase(_ placement: Placement) -> String

  /// Why there is no such body, continuing its name: "needs a radius of 5 to 2000 mm". Nil if there is one.
  var fault: String? { get }

  /// Why no microphone of the body can have a directional capsule; nil if any can.
  var capsuleFault: String? { get }

  /// The body's part of the key of designs: equal parts mean equal responses. A change makes all filters of the body be
  /// designed again.
  /// - Parameter hash: of the contents of a file.
  func key(hash: (_ path: String) -> String) -> String

  /// Sets the design parameters whose defaults differ on this body.
  func setDefaults(of design: inout DesignParameters)

  /// Radius of a sphere around the origin that holds the body; of a cylinder, its own. Nil if the shape is unknown.
  var reach: Double? { get }

  /// Whether it has edges, after which left and right can be named.
  var hasEdges: Bool { get }

  /// Nil if the shape is unknown.
  func nearestSurfacePoint(to position: Position) -> Position?

  func contains(_ position: Position) -> Bool

  /// The extent along a unit vector; nil if the shape is unknown.
  /// - Parameter array: extent of the microphones along x, y, z. A body without ends is drawn longer than that.
  func extent(along axis: SIMD3<Double>, array: SIMD3<Double>) -> Double?

  /// Whether the outline is a circle, and not a rectangle, for somebody who looks along a unit vector.
  func isRound(along axis: SIMD3<Double>) -> Bool
}

extension BodyShape {
  public var fault: String? { nil }
  public var capsuleFault: String? {
    "is directional, which is modelled only with \"body: free\"; leave the body away, or give measured responses"
  }
  public func setDefaults(of design: inout DesignParameters) {}
  public var reach: Double? { nil }
  public var hasEdges: Bool { false }
  public func nearestSurfacePoint(to position: Position) -> Position? { nil }
  public func contains(_ position: Position) -> Bool { false }
  public func extent(along axis: SIMD3<Double>, array: SIMD3<Double>) -> Double? { nil }
  public func isRound(along axis: SIMD3<Double>) -> Bool { false }
}

/// The outline of a body on a page, around its middle.
public enum BodyOutline: Hashable, Sendable {
  case circle(radius: Double)
  /// Width and height.
  case rectangle(size: SIMD2<Double>)

  /// In another unit of length.
  public func scaled(by factor: Double) -> BodyOutline {
    switch self {
    case .circle(let radius): .circle(radius: factor * radius)
    case .rectangle(let size): .rectangle(size: factor * size)
    }
  }
}

/// A length in millimetres with at most one decimal: "42", "87.5".
func millimetres(_ metres: Double) -> String {
  ((metres * 10_000).rounded() / 10).plain
}
