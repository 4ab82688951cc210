import Acoustics

/// A device's geometry for the view from above. A value; any thread.
package struct Picture: Sendable {
  package struct Point: Sendable {
    let name: String
    /// Right and up on the page, in metres.
    let place: SIMD2<Double>
  }
  private let device: Device

  package init(_ device: Device) { self.device = device }

  /// The device as the picture shows it, for one setting.
  struct View: Sendable {
    let points: [Point]
    let outline: BodyOutline?
    /// Unit vectors on the page; nil for a direction that points at the viewer or away.
    let forward, left, right: SIMD2<Double>?
    /// "front" and "back" of the device, as the page's bottom and top show them; nil for a device without a front.
    let bottomEdge: String?
  }

  /// - Parameter isStereo: whether left and right mean anything.
  func view(dataSource: String, orientation: InputOrientation, isStereo: Bool) -> View {
    // Somebody who faces the device stands below the page; one who wears it, or has it before them on a table as it is
    // drawn, looks to the page's top.
    let looksAtIt = [.upright, .camera].contains(device.placement)
    let pageUp: SIMD3<Double> = looksAtIt ? [0, 0, -1] : [0, 0, 1]
    let up = orientation.up.vector
    let pageRight = pageUp.cross(up)
    func project(_ vector: SIMD3<Double>) -> SIMD2<Double> { [vector.dot(pageRight), vector.dot(pageUp)] }
    func direction(_ direction: Direction?) -> SIMD2<Double>? {
      guard let vector = direction.map({ project($0.vector) }) else { return nil }
      let length = (vector * vector).sum().squareRoot()
      return length > 0.5 ? vector / length : nil
    }
    let source = try? device.dataSource(named: dataSource)
    let frame = source.flatMap { HeadFrame(forward: $0.forward, orientation: orientation) }
    return View(
      points: device.microphones.map { Point(name: $0.name, place: project($0.position)) },
      outline: device.outline(right: pageRight, up: pageUp),
      forward: direction(source?.forward), left: isStereo ? direction(frame?.left) : nil,
      right: isStereo ? direction(frame?.right) : nil,
      bottomEdge: device.placement == .upright ? "screen" : nil)
  }
}
