import Acoustics
import Presets
import Testing

@Suite("The eight stereo cases")
struct StereoCaseTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let dataSource: String
    let orientation: InputOrientation
    let up: SIMD3<Double>
    let left: SIMD3<Double>
    let leftEdge: DeviceEdge
    let rightEdge: DeviceEdge
    var testDescription: String { "\(dataSource), \(orientation.rawValue)" }
  }

  /// The table in system.md, row by row.
  static let rows = [
    Row("Back", .portrait, up: [0, 1, 0], left: [-1, 0, 0], .left, .right),
    Row("Back", .portraitUpsideDown, up: [0, -1, 0], left: [1, 0, 0], .right, .left),
    Row("Back", .landscapeRight, up: [1, 0, 0], left: [0, 1, 0], .top, .bottom),
    Row("Back", .landscapeLeft, up: [-1, 0, 0], left: [0, -1, 0], .bottom, .top),
    Row("Front", .portrait, up: [0, 1, 0], left: [1, 0, 0], .right, .left),
    Row("Front", .portraitUpsideDown, up: [0, -1, 0], left: [-1, 0, 0], .left, .right),
    Row("Front", .landscapeRight, up: [1, 0, 0], left: [0, -1, 0], .bottom, .top),
    Row("Front", .landscapeLeft, up: [-1, 0, 0], left: [0, 1, 0], .top, .bottom),
  ]

  @Test("the shipped phone's stereo cases have the edges of system.md's table", arguments: rows)
  func edges(row: Row) throws {
    let source = try ShippedDeviceTests.library.device(named: "phone5").dataSource(named: row.dataSource)
    let frame = try #require(HeadFrame(forward: source.forward, orientation: row.orientation))
    #expect(frame.up.vector == row.up)
    #expect(frame.left.vector == row.left)
    #expect(frame.right.vector == -row.left)
    #expect(frame.layout == StereoLayout(left: row.leftEdge, right: row.rightEdge))
    #expect(source.stereoOrientations.contains(row.orientation))
  }

  @Test("there is no left and right where up is parallel to forward")
  func parallel() {
    let sideways = InputOrientation.allCases.filter { HeadFrame(forward: .plusX, orientation: $0) == nil }
    #expect(sideways == [.landscapeLeft, .landscapeRight])
  }
}

extension StereoCaseTests.Row {
  init(
    _ dataSource: String, _ orientation: InputOrientation, up: SIMD3<Double>, left: SIMD3<Double>,
    _ leftEdge: DeviceEdge, _ rightEdge: DeviceEdge
  ) {
    self.init(
      dataSource: dataSource, orientation: orientation, up: up, left: left, leftEdge: leftEdge,
      rightEdge: rightEdge)
  }
}
