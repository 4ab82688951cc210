import Acoustics
import AudioFiles
import Foundation
import Plots
import TestSupport
import Testing

@Suite("Plots of positions") struct PositionPlotTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func picture(_ views: [PositionPlot.View]) throws -> Picture {
    let path = folder.path + "/positions.png"
    try PositionPlot(PlotTitle("Positions", ""), views: views).write(OutputFile(path, replacing: true))
    return try Picture(png: path)
  }

  private func view(_ positions: [SIMD2<Double>], sides: [PositionPlot.View.Side] = []) -> PositionPlot.View {
    PositionPlot.View("View", points: positions.map { .init("", $0) }, outline: nil, sides: sides)
  }

  @Test("x is to the right and y is up, in the same scale")
  func scale() throws {
    let cross = try #require(
      try picture([view([[-40, 0], [40, 0], [0, 20], [0, -20]])]).extent(of: .green))
    let disc = 6.8 * 2
    let width = Double(cross.x.count) - disc
    let height = Double(cross.y.count) - disc
    #expect(abs(width - 2 * height) < 4, "\(width), \(height)")
    // 220 points of 2 pixels.
    #expect(abs(width - 440) < 4, "\(width)")
    let corner = try #require(try picture([view([[40, 40]])]).extent(of: .green))
    #expect(corner.x.lowerBound > cross.x.upperBound - 20 && corner.y.upperBound < cross.y.lowerBound + 20)
  }

  @Test("the arrow of a side points out of the view, to where the side is")
  func sides() throws {
    let left = PositionPlot.View.Side("", [-1, 0], .orange)
    let picture = try picture([view([[-40, 0], [40, 0]], sides: [left])])
    let arrow = try #require(picture.extent(of: .orange))
    let points = try #require(picture.extent(of: .green))
    #expect(arrow.x.upperBound < points.x.lowerBound)
  }

  @Test("a failed point is seen although a working one is at the same place", arguments: [0, 1])
  func failedOnTop(failed: Int) throws {
    let points = (0..<2).map { PositionPlot.View.Point("", [20, 0], isFailed: $0 == failed) }
    let picture = try picture([PositionPlot.View("", points: points, outline: nil, sides: [])])
    let red = try #require(picture.extent(of: .red))
    #expect(red.x.count >= 10 && red.y.count >= 10, "\(red)")
  }

  @Test("a view without extent and many labels at one place are drawn, too")
  func degenerate() throws {
    let points = (1...40).map { PositionPlot.View.Point("microphone-\($0)", .zero) }
    let view = PositionPlot.View("", points: points, outline: .circle(radius: 0), sides: [])
    #expect(try picture([view, view]).colours.count > 20)
    _ = try picture([PositionPlot.View("", points: [], outline: nil, sides: [])])
  }
}

@Suite("Drawings of devices") struct DevicePlotTests {
  private func markup(_ orientation: InputOrientation, isStereo: Bool = true, failed: Set<String> = []) throws
    -> String
  {
    let device = TestDevices.phone5()
    return PositionPlot(
      held: device, try device.dataSource(named: "Back"), orientation, isStereo: isStereo, failed: failed
    ).markup(description: "")
  }

  @Test(
    "a held phone has the orientation's edge above the others, and L left of R",
    arguments: [
      (InputOrientation.portrait, "top"), (.portraitUpsideDown, "bottom"), (.landscapeLeft, "left"),
      (.landscapeRight, "right"),
    ])
  func turned(orientation: InputOrientation, upper: String) throws {
    let markup = try markup(orientation)
    let heights = try ["top", "bottom", "left", "right"].map { ($0, try textPlace(of: $0, in: markup).y) }
    #expect(heights.min { $0.1 < $1.1 }?.0 == upper, "\(heights)")
    #expect(try textPlace(of: "L", in: markup).x < textPlace(of: "R", in: markup).x)
  }

  @Test("without left and right there is neither L nor R")
  func mono() throws {
    let markup = try markup(.portrait, isStereo: false)
    #expect(!markup.contains(">L<") && !markup.contains(">R<"))
  }

  @Test("long names at the rim stay within the drawing, and edges keep away from microphones there")
  func rim() throws {
    let names = ["front-left-up-outermost", "front-right-down-outermost", "back-left-down-outermost"]
    let device = try Device(
      name: "x", title: "X", body: .free,
      microphones: TestDevices.microphones(
        zip(names, [(-20.0, 20.0), (20, 20), (20, -20)]).map { ($0, $1.0, $1.1, 0) }),
      dataSources: TestDevices.phone5().dataSources.suffix(1).map {
        TestDevices.source($0.name, $0.orientation, $0.forward, microphones: [0], [.omnidirectional])
      })
    let plot = PositionPlot(held: device, device.dataSources[0], .portrait, isStereo: false, failed: [])
    let markup = plot.markup(description: "")
    for name in names {
      let place = try textPlace(of: name, in: markup)
      // Some 7 points per letter at this size, on either side of the middle.
      #expect(place.x > 0 && place.x - 3.5 * Double(name.count) > -10, "\(name) at \(place)")
      #expect(place.x + 3.5 * Double(name.count) < 404 + 10, "\(name) at \(place)")
    }
    let phone = try self.markup(.portrait)
    let discs = phone.matches(of: /<circle cx="([-0-9.]+)" cy="([-0-9.]+)" r="3.4"/).map {
      SIMD2(Double($0.1)!, Double($0.2)!)
    }
    let words = phone.matches(of: /<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*fill="var\(--grey\)"[^>]*>top</)
      .map {
        SIMD2(Double($0.1)!, Double($0.2)!)
      }
    #expect(discs.count == 5 && words.count == 1)
    for disc in discs {
      #expect(abs(disc.y - words[0].y) > 8 || abs(disc.x - words[0].x) > 30, "\(disc), \(words)")
    }
  }

  @Test("a microphone that has failed is red, with its name, and no other is")
  func failed() throws {
    func reds(_ failed: Set<String>) throws -> Int {
      try markup(.portrait, failed: failed).split(separator: "var(--red)").count - 1
    }
    #expect(try reds([]) == 0)
    #expect(try reds(["back"]) == 2)
  }
}
