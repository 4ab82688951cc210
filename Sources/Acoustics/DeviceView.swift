/// How a drawing shows a device: from where, and what of it may be named. The page, the monitor, reports, checks and
/// `device new` draw from it, so that left is where `Device.layout` says on all of them.
public struct DeviceView: Hashable, Sendable {
  public enum Viewpoint: Hashable, Sendable {
    case above
    /// Where somebody stands who faces the device.
    case front
    /// Where the listener of a case is.
    case listener
  }

  public let device: Device
  public let viewpoint: Viewpoint
  /// The directions of the device frame that point right and up on the page: unit vectors.
  public let right, up: SIMD3<Double>

  /// A vector of the device frame on the page, right and up.
  public func project(_ vector: SIMD3<Double>) -> SIMD2<Double> { [vector.dot(right), vector.dot(up)] }

  /// A direction on the page, of length 1; nil if it points at the viewer or away.
  public func project(_ direction: Direction) -> SIMD2<Double>? {
    let onPage = project(direction.vector)
    let length = (onPage * onPage).sum().squareRoot()
    return length > 0.5 ? onPage / length : nil
  }

  /// The cosine of the angle between a direction and the one to the viewer.
  public func towardsViewer(_ direction: Direction) -> Double { direction.vector.dot(right.cross(up)) }

  /// The body's outline, in metres; nil for a body whose shape is unknown.
  public var outline: BodyOutline? {
    let (shape, array) = (device.body.shape, device.extent)
    guard let width = shape.extent(along: right, array: array),
      let height = shape.extent(along: up, array: array)
    else { return nil }
    return shape.isRound(along: right.cross(up))
      ? .circle(radius: width / 2) : .rectangle(size: [width, height])
  }

  /// The edges that are seen, with where they are on the page; none on a device whose sides are not named after edges.
  public var edges: [(edge: DeviceEdge, direction: SIMD2<Double>)] {
    guard device.namesEdges else { return [] }
    return DeviceEdge.allCases.compactMap { edge in
      project(edge.direction).map { (edge: edge, direction: $0) }
    }
  }
}

extension Device {
  /// Whether left and right are named after edges: of a body that has some, if people face it. Nobody faces what lies
  /// on a table or is worn: there, axes and microphones name the sides.
  public var namesEdges: Bool { body.shape.hasEdges && placement.isFaced }

  /// From above. Who faces the device is below the page; who wears it, or has it on the table as its file draws it,
  /// looks to the page's top.
  public func viewFromAbove(_ up: Direction = .plusY) -> DeviceView {
    let pageUp = (placement.isFaced ? Direction.plusZ.opposite : .plusZ).vector
    return DeviceView(device: self, viewpoint: .above, right: pageUp.cross(up.vector), up: pageUp)
  }

  public func viewFromFront(_ up: Direction = .plusY) -> DeviceView {
    DeviceView(
      device: self, viewpoint: .front, right: up.vector.cross(Direction.plusZ.vector), up: up.vector)
  }

  /// As people have it before them in an orientation: from above what lies on a table, from the front what is held.
  public func view(held orientation: InputOrientation) -> DeviceView {
    lies(under: orientation.up) ? viewFromAbove(orientation.up) : viewFromFront(orientation.up)
  }

  /// As the listener of a case has it: what lies on a table from above, forward at the top; what is held from behind.
  /// The listener's left is on the left of the page.
  public func view(of listener: HeadFrame) -> DeviceView {
    let (right, top) = (listener.right.vector, DeviceEdge(nearest: listener.up).direction)
    return lies(under: top)
      ? DeviceView(device: self, viewpoint: .above, right: right, up: top.vector.cross(right))
      : DeviceView(device: self, viewpoint: .listener, right: right, up: listener.up.vector)
  }

  /// Whether people look down on the array: it lies on a table, or is so flat that it would be a row of dots from the
  /// side.
  /// - Parameter up: one of the device's axes.
  private func lies(under up: Direction) -> Bool {
    guard placement != .table else { return abs(up.vector.y) == 1 }
    let height = abs(extent.dot(up.vector))
    let across = extent - height * up.vector * up.vector
    let widths = [across.x, across.y, across.z].sorted()
    return !namesEdges && height < 0.1 * widths[1]
  }
}
