import Acoustics
import AudioFiles
import Foundation
import FoundationXML
import Plots
import TestSupport
import Testing

@Suite("Top views of voices") struct TopViewPlotTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// A phone of 72 × 147 × 8 mm.
  private func phone(_ forward: Direction, _ orientation: InputOrientation) throws -> HeldDevice {
    let head = try #require(HeadFrame(forward: forward, orientation: orientation))
    return HeldDevice(TestDevices.phone5(), in: head)
  }

  private func plot(_ voices: TopViewPlot.Voice..., device: HeldDevice? = nil) throws -> TopViewPlot {
    let device = try device ?? phone(Direction([0, 0, -1])!, .portrait)
    return TopViewPlot(PlotTitle("", ""), panels: [.init("Case", device, .circle, voices: voices)])
  }

  private func picture(_ voices: TopViewPlot.Voice...) throws -> Picture {
    let path = folder.path + "/top.png"
    let device = try phone(Direction([0, 0, -1])!, .portrait)
    try TopViewPlot(PlotTitle("", ""), panels: [.init("Case", device, .circle, voices: voices)])
      .write(OutputFile(path, replacing: true))
    return try Picture(png: path)
  }

  private func voice(
    _ azimuth: Double, heard: Double? = nil, _ verdict: TopViewPlot.Voice.Verdict = .right
  ) -> TopViewPlot.Voice {
    .init(azimuth: azimuth, heard: heard ?? azimuth, level: 0, verdict: verdict)
  }

  private func centre(_ extent: (x: ClosedRange<Int>, y: ClosedRange<Int>)) -> SIMD2<Double> {
    [
      Double(extent.x.lowerBound + extent.x.upperBound) / 2,
      Double(extent.y.lowerBound + extent.y.upperBound) / 2,
    ]
  }

  @Test("a voice at +60° is on the listener's left and in front, one at −120° on the right and behind")
  func azimuths() throws {
    func place(_ azimuth: Double) throws -> SIMD2<Double> {
      centre(try #require(try picture(voice(azimuth)).extent(of: .blue)))
    }
    let (front, left, behindRight) = (try place(0), try place(60), try place(-120))
    #expect(left.x < front.x - 100 && left.y > front.y, "\(front), \(left)")
    #expect(behindRight.x > front.x + 100 && behindRight.y > left.y + 100, "\(behindRight)")
    // Opposite directions have the listener's head between them.
    let middle = (left + behindRight) / 2
    #expect(abs(middle.x - front.x) < 3, "\(middle), \(front)")
  }

  @Test("a voice that is not right says by how many decibels it is louder than it may be; others say nothing")
  func excess() throws {
    func behind(_ level: Double, limit: Double?, _ verdict: TopViewPlot.Voice.Verdict) throws -> String {
      let voice = TopViewPlot.Voice(
        azimuth: 180, heard: 180, level: level, highestLevel: limit, verdict: verdict)
      return try plot(voice).markup(description: "")
    }
    #expect(try behind(1, limit: -3, .wrong).contains("+4 dB"))
    #expect(try behind(-1, limit: -3, .weak).contains("+2 dB"))
    for markup in [
      try behind(-2.8, limit: -3, .wrong), try behind(1, limit: -3, .right),
      try behind(1, limit: nil, .wrong),
    ] { #expect(!markup.contains(" dB<")) }
  }

  @Test("L is left of the head and R right of it, at the same height")
  func letters() throws {
    let markup = try plot(voice(0)).markup(description: "")
    let (left, right) = (try textPlace(of: "L", in: markup), try textPlace(of: "R", in: markup))
    #expect(left.x < right.x && left.y == right.y)
  }

  @Test("right and wrong differ in shape: a disc fills its square to three quarters, a diamond to half")
  func shapes() throws {
    func share(_ verdict: TopViewPlot.Voice.Verdict, _ colour: SIMD3<Int>) throws -> Double {
      // The ring of the wrong voice has the mark's colour: it is at another place.
      let picture = try picture(voice(90, heard: 90, verdict))
      let extent = try #require(picture.extent(of: colour))
      return Double(picture.count(of: colour)) / Double(extent.x.count * extent.y.count)
    }
    let (right, wrong) = (try share(.right, .blue), try share(.wrong, .orange))
    #expect(right > 0.55 && wrong < right - 0.05, "\(right), \(wrong)")
  }

  @Test("a wrong voice has its ring where it should be, its mark where it came out, and a line between")
  func wrong() throws {
    let orange = try #require(try picture(voice(90, heard: -90, .wrong)).extent(of: .orange))
    let left = try #require(try picture(voice(90)).extent(of: .blue))
    let right = try #require(try picture(voice(-90)).extent(of: .blue))
    #expect(orange.x.lowerBound <= left.x.lowerBound && orange.x.upperBound >= right.x.upperBound)
    // A voice that came out right has no line.
    #expect(left.x.count < 40)
  }

  private static let heldCases: [HeldCase] = [
    HeldCase(z: -1, orientation: .portrait, top: [0, -1]),
    HeldCase(z: -1, orientation: .portraitUpsideDown, top: [0, 1]),
    HeldCase(z: -1, orientation: .landscapeRight, top: [-1, 0]),
    HeldCase(z: -1, orientation: .landscapeLeft, top: [1, 0]),
    HeldCase(z: 1, orientation: .portrait, top: [0, -1]),
    HeldCase(z: 1, orientation: .portraitUpsideDown, top: [0, 1]),
    HeldCase(z: 1, orientation: .landscapeRight, top: [1, 0]),
    HeldCase(z: 1, orientation: .landscapeLeft, top: [-1, 0]),
  ]

  struct HeldCase: Sendable {
    /// The data source looks along z: −1 for the back.
    let z: Double
    let orientation: InputOrientation
    /// Where the device's top edge is on the page.
    let top: SIMD2<Double>
  }

  @Test(
    "S9: the device's top is drawn at the edge where the listener of the case sees it",
    arguments: heldCases)
  func held(_ held: HeldCase) throws {
    let (z, top) = (held.z, held.top)
    let device = try phone(Direction([0, 0, z])!, held.orientation)
    let markup = try plot(device: device).markup(description: "")
    let caption = z < 0 ? "you see the screen;" : "you see the back;"
    let place = try textPlace(of: "top", in: markup)
    // The caption is below the middle of the device.
    let below = try textPlace(of: caption, in: markup)
    #expect((abs(place.x - below.x) < 2) == (top.x == 0), "\(place), \(below)")
    if top.x != 0 { #expect((place.x - below.x) * top.x > 20, "\(place), \(below)") }
    if top.y != 0 { #expect((place.y - (below.y - 60)) * top.y > 20, "\(place), \(below)") }
  }

  @Test("markup is well-formed, has no ID, and names no colour but the page's variables")
  func markup() throws {
    let markup = try plot(voice(90, heard: -60, .wrong), voice(0), voice(180, .weak)).markup(
      description: "a < b & \"c\"")
    let parser = XMLParser(data: Data(markup.utf8))
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    #expect(!markup.contains(" id=") && !markup.contains("=\"#"))
    for name in markup.matches(of: /var\(--([a-z-]+)\)/).map({ String($0.1) }) {
      #expect(PlotColour.variables(isDark: false).contains("--\(name):#"))
      #expect(PlotColour.variables(isDark: true).contains("--\(name):#"))
    }
  }

  @Test("plots on a sheet are beside and below each other, and the sheet is as large as all of them")
  func sheet() throws {
    let one = try plot(voice(0))
    let sheet = PlotSheet(rows: [[one, one], [one]])
    #expect(sheet.size == 2 * one.size)
    try sheet.write(OutputFile(folder.path + "/sheet.svg", replacing: true))
    #expect(PlotSheet(rows: []).size == [1, 1])
  }
}
