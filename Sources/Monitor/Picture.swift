import Acoustics
import Glibc

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
    fileprivate let page: DeviceView
  }

  /// Where a talker is on a page; nil for one whose direction points at the viewer or away.
  /// - Parameters:
  ///   - azimuth: in degrees from the forward of the data source of `main`, left positive.
  ///   - pose: of `main`, as it is set.
  func talker(
    azimuth: Double, dataSource: String, orientation: InputOrientation, pose: Pose, on view: View
  ) -> SIMD2<Double>? {
    guard let source = try? device.dataSource(named: dataSource),
      let frame = HeadFrame(forward: source.forward, orientation: orientation)?.turned(by: pose.ofAxes)
    else { return nil }
    let angle = azimuth * .pi / 180
    return Direction(frame.device(fromHead: [cos(angle), sin(angle), 0])).flatMap { view.page.project($0) }
  }

  /// - Parameters:
  ///   - isStereo: whether left and right mean anything.
  ///   - pose: in force.
  func view(dataSource: String, orientation: InputOrientation, isStereo: Bool, pose: Pose) -> View {
    let source = try? device.dataSource(named: dataSource)
    let frame = source.flatMap {
      HeadFrame(forward: $0.forward, orientation: orientation)?.turned(by: pose)
    }
    // A device that is turned about an axis of the page is drawn so.
    let up = pose.ofAxes != .none ? frame?.up : nil
    let isOnPage = up.map { abs($0.vector.z) < 1e-6 } ?? false
    let view = device.viewFromAbove(isOnPage ? up! : orientation.up)
    func direction(_ direction: Direction?) -> SIMD2<Double>? { direction.flatMap { view.project($0) } }
    return View(
      points: device.microphones.map { Point(name: $0.name, place: view.project($0.position)) },
      outline: view.outline,
      forward: direction(pose.yaw != 0 ? frame?.forward : source?.forward),
      left: isStereo ? direction(frame?.left) : nil, right: isStereo ? direction(frame?.right) : nil,
      bottomEdge: device.namesEdges && device.placement == .upright ? "screen" : nil, page: view)
  }
}
