import Acoustics
import Foundation
import Monitor
import Plots
import Presets
import TestSupport
import Testing

/// One stereo case of a device.
struct StereoCase: CustomStringConvertible {
  let device: Device
  let source: DataSource
  let orientation: InputOrientation
  var description: String { "\(device.name), \(source.name), \(orientation.rawValue)" }

  static func all(of device: Device) -> [StereoCase] {
    device.dataSources.flatMap { source in
      source.stereoOrientations.map { StereoCase(device: device, source: source, orientation: $0) }
    }
  }

  var frame: HeadFrame { HeadFrame(forward: source.forward, orientation: orientation)! }
  var words: (left: String, right: String) { device.layout(frame).words }

  /// Left of a listener who looks forward, up being up: up × forward.
  var left: SIMD3<Double> {
    let up: SIMD3<Double> =
      switch orientation {
      case .portrait: [0, 1, 0]
      case .portraitUpsideDown: [0, -1, 0]
      case .landscapeRight: [1, 0, 0]
      case .landscapeLeft: [-1, 0, 0]
      }
    let left = up.cross(source.forward.vector)
    return left / left.length
  }

  /// What a word for a side means in the device frame: "the top edge", "-x" or "-x, microphone ring-4".
  func direction(_ words: String) -> SIMD3<Double>? {
    let edges: [String: SIMD3<Double>] = [
      "the left edge": [-1, 0, 0], "the right edge": [1, 0, 0], "the top edge": [0, 1, 0],
      "the bottom edge": [0, -1, 0], "the front edge": [0, 0, 1], "the back edge": [0, 0, -1],
    ]
    if let edge = edges[words] { return edge }
    // The file of what lies on a table is drawn from above, its top being the front.
    let axes: [String: SIMD3<Double>] =
      device.placement == .table
      ? ["x": [-1, 0, 0], "y": [0, 0, 1], "z": [0, 1, 0]]
      : ["x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]]
    guard let axis = axes[String(words.dropFirst().prefix(1))] else { return nil }
    return words.hasPrefix("-") ? -axis : axis
  }

  /// The microphone that a word names.
  func microphone(_ words: String) -> Int? {
    words.components(separatedBy: ", microphone ").dropFirst().first.flatMap {
      device.microphoneIndex(named: $0)
    }
  }
}

/// Where a drawing has left, right, the microphones and the edges, x to the right and y down.
struct Drawn {
  let left, right: SIMD2<Double>
  /// In the order of the device.
  let microphones: [SIMD2<Double>?]
  /// By name.
  let edges: [String: SIMD2<Double>]

  /// A drawing as markup.
  /// - Parameter radius: of a microphone's disc.
  init(_ markup: String, left: String, right: String, radius: String, edges: Bool) throws {
    let texts = markup.matches(of: /<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>([^<]*)</).map {
      (text: String($0.3), place: SIMD2(Double($0.1)!, Double($0.2)!))
    }
    func place(_ word: String) throws -> SIMD2<Double> {
      try #require(texts.first { $0.text == word }, "\(word) in \(markup)").place
    }
    (self.left, self.right) = (try place(left), try place(right))
    microphones = markup.matches(
      of: /<circle cx="([-0-9.]+)" cy="([-0-9.]+)" r="([0-9.]+)" fill="var\(--green\)"/
    ).filter { $0.3 == radius }.map { SIMD2(Double($0.1)!, Double($0.2)!) }
    let names = DeviceEdge.allCases.map(\.rawValue)
    self.edges = Dictionary(
      texts.filter { edges && names.contains($0.text) }.map { ($0.text, $0.place) },
      uniquingKeysWith: { a, _ in a })
  }

  /// What the terminal shows, whose cells are twice as high as wide.
  init?(_ grid: Grid, count: Int, columns: Int) {
    guard let left = grid.side("L"), let right = grid.side("R") else { return nil }
    func place(_ cell: (row: Int, column: Int)) -> SIMD2<Double> {
      [Double(cell.column), 2 * Double(cell.row)]
    }
    (self.left, self.right) = (place(left), place(right))
    let numbers = (0..<grid.height).flatMap { row -> [(number: String, place: SIMD2<Double>)] in
      var found: [(String, SIMD2<Double>)] = []
      var column = 0
      while column < columns {
        var text = ""
        let start = column
        while column < columns, grid[row, column].style == .strong, grid[row, column].scalar != " " {
          text.unicodeScalars.append(grid[row, column].scalar)
          column += 1
        }
        if !text.isEmpty { found.append((text, place((row, start)))) }
        column += 1
      }
      return found
    }
    microphones = (1...count).map { number in numbers.first { $0.number == "\(number)" }?.place }
    edges = [:]
  }

  var leftwards: SIMD2<Double> { left - right }
}

@Suite("Words and drawings of left and right") struct DrawingTests {
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])

  /// Every shipped device, and arrays as people make them.
  static var devices: [Device] {
    get throws {
      try library.deviceNames().map(library.device(named:))
        + [
          device(.ring(microphones: 6, radius: 40), .table),
          device(.grid(columns: 3, rows: 2, spacing: 30), .table),
          device(.box(microphones: 5, size: [150, 90, 40]), .table),
          device(.ring(microphones: 8, radius: 90), .worn),
          device(.line(microphones: 4, spacing: 50), .upright),
        ]
    }
  }

  static func device(_ shape: ArrayTemplate.Shape, _ placement: Placement) throws -> Device {
    try DeviceFile.read(
      YAMLReader(text: ArrayTemplate(shape, placement: placement).text(name: "mine"), file: "mine.yaml"))
  }

  /// The page, the report, the check and the monitor.
  private func drawings(_ one: StereoCase) throws -> [(name: String, drawn: Drawn)] {
    let page = PositionPlot(held: one.device, one.source, one.orientation, isStereo: true, failed: [])
    let check = TopViewPlot(
      PlotTitle("", ""), panels: [.init("", HeldDevice(one.device, in: one.frame), .circle, voices: [])])
    var drawings = [
      (
        "page",
        try Drawn(
          page.markup(description: ""), left: "L", right: "R", radius: "3.4",
          edges: !page.views[0].edges.isEmpty)
      ),
      (
        "check",
        try Drawn(
          check.markup(description: ""), left: "L", right: "R", radius: "1.8", edges: false)
      ),
    ]
    let layout = one.device.layout(one.frame)
    var words: [String: Any] = ["left": layout.left.rawValue, "right": layout.right.rawValue]
    if let sides = layout.sides { words["sides"] = ["left": sides.left, "right": sides.right] }
    let situation = try Situation(
      device: one.device,
      [
        "dataSource": one.source.name, "inputOrientation": one.orientation.rawValue, "layout": words,
        "device": "phone5",
      ])
    let count = one.device.microphones.count
    if let monitor = Drawn(situation.grid(200, 60), count: count, columns: 63) {
      drawings.append(("monitor", monitor))
    }
    return drawings
  }

  @Test("left is on the same side in words, L and R, in every drawing of every device and case")
  func agree() throws {
    var compared: [String: Int] = [:]
    for device in try Self.devices {
      for one in StereoCase.all(of: device) {
        for (words, side) in [(one.words.left, one.left), (one.words.right, -one.left)] {
          let direction = try #require(one.direction(words), "\(one): \(words)")
          #expect(direction.dot(side) > 0.7, "\(one): \(words)")
          if let named = one.microphone(words) {
            let out = device.microphones.map { $0.position.dot(side) }
            #expect(out[named] > out.max()! - 0.0006, "\(one): \(words)")
          }
        }
        for (name, drawn) in try drawings(one) {
          if let left = one.microphone(one.words.left).flatMap({ drawn.microphones[$0] }),
            let right = one.microphone(one.words.right).flatMap({ drawn.microphones[$0] })
          {
            #expect(((left - right) * drawn.leftwards).sum() > 0, "\(one), \(name): \(one.words)")
            compared[name, default: 0] += 1
          }
          let layout = device.layout(one.frame)
          if let left = drawn.edges[layout.left.rawValue], let right = drawn.edges[layout.right.rawValue] {
            #expect(((left - right) * drawn.leftwards).sum() > 0, "\(one), \(name): \(one.words)")
            compared["edges", default: 0] += 1
          }
        }
      }
    }
    // Every case was compared in every drawing, and the eight of both phones with stereo by their edges.
    #expect(["page", "check", "monitor"].allSatisfy { compared[$0, default: 0] > 80 }, "\(compared)")
    #expect(compared["edges"] == 16, "\(compared)")
  }

  @Test("a report's drawing has left and right where its first case has them, from the front and from above")
  func report() throws {
    for device in try Self.devices {
      guard let one = StereoCase.all(of: device).first else { continue }
      let views = PositionPlot(device).views
      #expect(views.count == 2)
      for view in views {
        let sides = Dictionary(uniqueKeysWithValues: view.sides.map { ($0.label, $0.direction) })
        guard let left = sides["left"], let right = sides["right"] else { continue }
        let named = [one.words.left, one.words.right].map { words in
          one.microphone(words).flatMap { index in
            view.points.first { $0.label.hasSuffix(" " + device.microphones[index].name) }
          }
        }
        guard let a = named[0], let b = named[1] else { continue }
        #expect(((a.position - b.position) * (left - right)).sum() > 0, "\(one): \(view.title)")
      }
    }
  }

  @Test(
    "edges are named on what people face, and nowhere else: not on a table, not on a head, not without a body"
  )
  func edges() throws {
    for device in try Self.devices {
      for one in StereoCase.all(of: device) {
        let isPhone = device.name.hasPrefix("phone")
        let view = PositionPlot(held: device, one.source, one.orientation, isStereo: true, failed: []).views[
          0]
        #expect(view.edges.isEmpty != isPhone && device.namesEdges == isPhone, "\(one)")
        #expect((device.layout(one.frame).sides == nil) == isPhone, "\(one)")
      }
    }
  }

  @Test(
    "what lies flat on a table or around a head is drawn from above: as wide and as deep as it is, forward up for its listener"
  )
  func fromAbove() throws {
    for device in try Self.devices where !device.placement.isFaced && device.extent.y < 0.001 {
      let (wide, deep) = (device.extent.x, device.extent.z)
      for one in StereoCase.all(of: device) {
        for (name, drawn) in try drawings(one) where name != "monitor" {
          let places = drawn.microphones.compactMap(\.self)
          func span(_ axis: KeyPath<SIMD2<Double>, Double>) -> Double {
            places.map { $0[keyPath: axis] }.max()! - places.map { $0[keyPath: axis] }.min()!
          }
          #expect(abs(span(\.x) / span(\.y) - wide / deep) < 0.05 * wide / deep, "\(one), \(name)")
          guard name == "check" else { continue }
          let depths = device.microphones.map { $0.position.dot(one.source.forward.vector) }
          let (front, behind) = (depths.firstIndex(of: depths.max()!)!, depths.firstIndex(of: depths.min()!)!)
          #expect(places[front].y < places[behind].y, "\(one)")
        }
      }
    }
    let ring = try Self.library.device(named: "ring7")
    #expect(ring.placement == .table && abs(ring.extent.x - 0.086) < 1e-6)
  }
}
