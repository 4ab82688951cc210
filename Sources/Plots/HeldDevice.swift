import Acoustics
import Glibc

/// A device as the listener of a case has it: on a table from above, otherwise as the listener sees it, looking
/// forward, with up at the top. Lengths are in metres.
public struct HeldDevice: Sendable {
  private let view: DeviceView
  /// The listener's axes.
  private let right, forward: SIMD3<Double>

  /// - Parameter head: the listener's axes.
  public init(_ device: Device, in head: HeadFrame) {
    view = device.view(of: head)
    right = head.right.vector
    forward = head.forward.vector
  }

  private var device: Device { view.device }
  var isSeenFromAbove: Bool { view.viewpoint == .above }

  /// Width and depth for the listener.
  var ground: SIMD2<Double> { [extent(along: right), extent(along: forward)] }

  /// The extent of the body along a direction; of the microphones, if its shape is unknown.
  private func extent(along axis: SIMD3<Double>) -> Double {
    device.body.shape.extent(along: axis, array: device.extent) ?? max(0.01, span(along: axis))
  }

  private func span(along axis: SIMD3<Double>) -> Double {
    let positions = device.microphones.map { $0.position.dot(axis) }
    return (positions.max() ?? 0) - (positions.min() ?? 0)
  }

  /// Which of a phone's faces the listener sees; nil unless the device is a thin box that is held before the listener.
  private var face: Face? {
    guard device.namesEdges, let size = box, size.z < 0.25 * min(size.x, size.y), abs(forward.z) > 0.9
    else { return nil }
    return forward.z < 0 ? .screen : .back
  }

  private var box: SIMD3<Double>? { if case .box(let box) = device.body { box.size } else { nil } }

  private enum Face { case screen, back }

  /// Two lines about what the drawing shows.
  var caption: [String] {
    switch face {
    case _ where isSeenFromAbove: ["seen from above;", "forward is up"]
    case .screen: ["you see the screen;", "the back records"]
    case .back: ["you see the back;", "screen side records"]
    case nil: ["as you see it", "from behind it"]
    }
  }

  /// Draws the device at most `length` points wide and high.
  func draw(on canvas: any Canvas, at centre: SIMD2<Double>, length: Double) {
    let scale = length / max(extent(along: view.right), extent(along: view.up))
    /// A point of the device frame on the page.
    func place(_ point: SIMD3<Double>) -> SIMD2<Double> { centre + scale * view.project(point) * [1, -1] }
    switch view.outline {
    case .circle(let radius): canvas.circle(centre, radius: scale * radius, .black, width: 1.8)
    case .rectangle(let size):
      let half = size / 2
      let corners = [half, [half.x, -half.y], -half, [-half.x, half.y]].map { centre + scale * $0 }
      canvas.stroke(corners, .black, width: 2.2, isClosed: true)
    case nil: break
    }
    if let box, let face { drawFace(face, half: box / 2, on: canvas, place) }
    for microphone in device.microphones { canvas.disc(place(microphone.position), radius: 1.8, .green) }
    drawTop(on: canvas, centre, scale)
  }

  /// The word "top" beside the device's upper edge, wherever that is.
  private func drawTop(on canvas: any Canvas, _ centre: SIMD2<Double>, _ scale: Double) {
    let onPage: SIMD2<Double> = [view.right.y, -view.up.y]
    guard onPage.distance(to: .zero) > 0.9 else { return }
    let edge = centre + scale / 2 * extent(along: [0, 1, 0]) * onPage
    canvas.text(
      "top", at: edge + 4 * onPage, anchor: [0.5 - onPage.x / 2, 0.5 - onPage.y / 2], size: 8, .grey)
  }

  /// The screen with earpiece and home bar, or the back with its camera; and the buttons at the sides.
  private func drawFace(
    _ face: Face, half: SIMD3<Double>, on canvas: any Canvas, _ place: (SIMD3<Double>) -> SIMD2<Double>
  ) {
    func point(_ x: Double, _ y: Double) -> SIMD2<Double> { place(half * [x, y, 0]) }
    // Lock button at +x, volume at −x.
    for (x, from, to) in [(1.05, 0.25, 0.42), (-1.05, 0.32, 0.46), (-1.05, 0.1, 0.24)] {
      canvas.stroke([point(x, from), point(x, to)], .black, width: 2)
    }
    switch face {
    case .screen:
      canvas.polygon(
        [point(-0.86, -0.84), point(0.86, -0.84), point(0.86, 0.84), point(-0.86, 0.84)], .lightGrey)
      canvas.stroke([point(-0.25, 0.92), point(0.25, 0.92)], .black, width: 1.8)
      canvas.stroke([point(-0.35, -0.75), point(0.35, -0.75)], .black, width: 1.2)
    case .back:
      // At the upper left of somebody who looks at the back.
      for y in [0.8, 0.52] {
        canvas.circle(point(0.55, y), radius: 4, .black, width: 1.6)
        canvas.disc(point(0.55, y), radius: 1.4, .black)
      }
    }
  }
}
