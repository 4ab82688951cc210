import AudioFiles
import Foundation
import FoundationXML
import Plots
import TestSupport
import Testing

@Suite("Plots") struct PlotsTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  private func constant(_ label: String, _ colour: PlotColour, _ level: Double) -> Curve {
    Curve(label, colour, points: [[0, level], [100, level]])
  }

  private var lines: LinePlot {
    let axis = PlotAxis.linear("Level in dB", -20...20, step: 10)
    return LinePlot(
      PlotTitle("Three constants", "a < b & c"), horizontal: .linear("Time in s", 0...100, step: 20),
      panels: [
        LinePlot.Panel(
          axis,
          curves: [constant("low", .blue, -15), constant("zero", .orange, -2), constant("high", .green, 11)])
      ])
  }

  private func file(_ name: String) throws -> OutputFile { try OutputFile(path(name), replacing: true) }

  @Test("equal steps of value have equal distances in a line plot, greater values higher up")
  func levels() throws {
    try lines.write(file("lines.png"))
    let picture = try Picture(png: path("lines.png"))
    let rows = try [SIMD3<Int>.blue, .orange, .green].map { colour in
      let rows = try #require(picture.extent(of: colour)).y
      return Double(rows.lowerBound + rows.upperBound) / 2
    }
    #expect(rows[2] < rows[1])
    // A line of 3.2 pixels is found to the nearest pixel.
    #expect(abs((rows[0] - rows[1]) - (rows[1] - rows[2])) <= 2, "\(rows)")
    // 210 points of 2 pixels are 40 dB: 26 dB from the lowest to the highest line.
    #expect(abs((rows[0] - rows[2]) - 2 * 210 * 26 / 40) <= 2, "\(rows)")
  }

  @Test("octaves have equal distances on a frequency axis")
  func octaves() throws {
    func upright(_ x: Double, _ colour: PlotColour) -> Curve {
      Curve("", colour, points: [[x, -10], [x, 10]])
    }
    let curves = [upright(500, .blue), upright(1000, .orange), upright(2000, .green)]
    let plot = LinePlot(
      PlotTitle("Octaves", ""), horizontal: .frequency(50...20_000),
      panels: [LinePlot.Panel(.linear("dB", -20...20, step: 10), curves: curves)])
    try plot.write(file("octaves.png"))
    let picture = try Picture(png: path("octaves.png"))
    let columns = try [SIMD3<Int>.blue, .orange, .green].map {
      Double(try #require(picture.extent(of: $0)).x.lowerBound)
    }
    #expect(columns[0] < columns[1])
    #expect(abs((columns[1] - columns[0]) - (columns[2] - columns[1])) <= 2, "\(columns)")
  }

  /// A curve with a level at every azimuth.
  private func ring(_ colour: PlotColour, _ level: (Double) -> Double) -> Curve {
    Curve("ring", colour, points: stride(from: 0.0, to: 360, by: 1).map { [$0, level($0)] })
  }

  @Test("in a polar plot, −15 dB is half as far out as 0 dB, and −30 dB and less is the centre")
  func rings() throws {
    let panel = PolarPlot.Panel("1 kHz", curves: [ring(.blue) { _ in 0 }, ring(.orange) { _ in -15 }])
    try PolarPlot(PlotTitle("Rings", ""), panels: [panel]).write(file("rings.png"))
    let picture = try Picture(png: path("rings.png"))
    let outer = try #require(picture.extent(of: .blue))
    let inner = try #require(picture.extent(of: .orange))
    #expect(abs(Double(outer.x.count) - 2 * Double(inner.x.count)) <= 4, "\(outer), \(inner)")
    #expect(abs(outer.x.lowerBound + outer.x.upperBound - inner.x.lowerBound - inner.x.upperBound) <= 2)
    #expect(abs(outer.y.lowerBound + outer.y.upperBound - inner.y.lowerBound - inner.y.upperBound) <= 2)
  }

  @Test("in a polar plot, forward is up and positive azimuths are to the left")
  func sides() throws {
    let whole = ring(.blue) { _ in 0 }
    let frontLeft = ring(.orange) { (20...70).contains($0) ? -5 : -40 }
    let panel = PolarPlot.Panel("1 kHz", curves: [whole, frontLeft])
    try PolarPlot(PlotTitle("Sides", ""), panels: [panel]).write(file("sides.png"))
    let picture = try Picture(png: path("sides.png"))
    let all = try #require(picture.extent(of: .blue))
    let lobe = try #require(picture.extent(of: .orange))
    let centre = (
      x: (all.x.lowerBound + all.x.upperBound) / 2, y: (all.y.lowerBound + all.y.upperBound) / 2
    )
    #expect(lobe.x.lowerBound < centre.x - 60 && lobe.x.upperBound <= centre.x + 4, "\(lobe), \(centre)")
    #expect(lobe.y.lowerBound < centre.y - 60 && lobe.y.upperBound <= centre.y + 4, "\(lobe), \(centre)")
  }

  @Test("plots are written as well-formed SVG and as PNG with more than one colour")
  func formats() throws {
    try lines.write(file("lines.svg"))
    let parser = XMLParser(data: try Data(contentsOf: URL(filePath: path("lines.svg"))))
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    try lines.write(file("lines.PNG"))
    let data = try Data(contentsOf: URL(filePath: path("lines.PNG")))
    #expect(data.prefix(8) == Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    // Letters in shades of grey: the title is drawn, too.
    #expect(try Picture(png: path("lines.PNG")).colours.count > 20)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["lines.PNG", "lines.svg"])
  }

  @Test("values that are not finite leave gaps", arguments: [Double.nan, .infinity, -.infinity])
  func gaps(value: Double) throws {
    let curve = Curve(
      "gap", .blue, points: [[0, 0], [20, 0], [30, value], [70, value], [80, 0], [100, 0]])
    let plot = LinePlot(
      PlotTitle("Gap", ""), horizontal: .linear("s", 0...100, step: 20),
      panels: [
        LinePlot.Panel(
          .linear("dB", fitting: curve.points.map(\.y), minimumRange: -1...1, step: 1), curves: [curve])
      ])
    try plot.write(file("gap.png"))
    let blue = try #require(try Picture(png: path("gap.png")).extent(of: .blue))
    #expect(blue.y.count <= 4)
  }

  @Test(
    "unknown file name extensions and unwritable paths are refused, and no file is left")
  func refusals() throws {
    for name in ["plot.pdf", "plot", "nosuch/plot.svg", "nosuch/plot.png"] {
      let error = #expect(throws: (any Error).self) { try lines.write(file(name)) }
      #expect(error.map { "\($0)".contains(path(name)) } == true)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a page gets no character that means something in HTML, and none that is unprintable")
  func html() {
    #expect(
      "<a> & \"b\"\n\u{1b}[31m\u{202e}".escapedForHTML
        == "&lt;a&gt; &amp; &quot;b&quot;\n\\u{1b}[31m\\u{202e}")
  }
}
