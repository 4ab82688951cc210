/// Where voices came out around a listener who is seen from above, one panel per case.
///
/// Forward is up and the listener's left is on the left, as the nose and the letters show. A ring marks where each voice
/// should be, a filled mark where it came out. The shape of the mark, not only its colour, says whether that is right.
public struct TopViewPlot: Plot {
  public struct Voice: Sendable {
    public enum Verdict: Sendable { case right, weak, wrong }

    /// Where the voice speaks, in degrees, positive to the left.
    let azimuth: Double
    /// Where it is heard, in degrees, positive to the left.
    let heard: Double
    /// Relative to the voice in front, in decibels.
    let level: Double
    /// The highest level that is right; nil if any is.
    let highestLevel: Double?
    let verdict: Verdict

    /// How many decibels it is louder than it may be, if it is not right and that is at least half a decibel.
    var excess: Double? {
      guard let highestLevel, verdict != .right, level - highestLevel >= 0.5 else { return nil }
      return level - highestLevel
    }

    public init(
      azimuth: Double, heard: Double, level: Double, highestLevel: Double? = nil, verdict: Verdict
    ) {
      self.azimuth = azimuth
      self.heard = heard
      self.level = level
      self.highestLevel = highestLevel
      self.verdict = verdict
    }
  }

  public struct Panel: Sendable {
    public enum Distance: Sendable {
      /// All voices are on one circle; louder ones have larger marks.
      case circle
      /// The distance from the listener is the level, as in a polar plot.
      case level
    }

    let title: String
    let device: HeldDevice
    let distance: Distance
    let voices: [Voice]

    public init(_ title: String, _ device: HeldDevice, _ distance: Distance, voices: [Voice]) {
      self.title = title
      self.device = device
      self.distance = distance
      self.voices = voices
    }
  }

  public let title: PlotTitle
  public let panels: [Panel]
  private let hasHeader: Bool

  static let panelSize: SIMD2<Double> = [320, 232]
  private static let columns = 4

  /// - Parameter hasHeader: false draws the panels alone.
  public init(_ title: PlotTitle, panels: [Panel], hasHeader: Bool = true) {
    self.title = title
    self.panels = panels
    self.hasHeader = hasHeader
  }

  /// Wide enough for the legend.
  private var columns: Int { min(Self.columns, max(hasHeader ? 2 : 1, panels.count)) }
  private var top: Double { hasHeader ? PlotLayout.headerHeight + 4 : 0 }

  package var size: SIMD2<Double> {
    let rows = max(1, (panels.count + columns - 1) / columns)
    return [Double(columns) * Self.panelSize.x, top + Double(rows) * Self.panelSize.y + 8]
  }

  package func draw(on canvas: any Canvas) {
    if hasHeader {
      canvas.header(title, curves: [])
      drawLegend(on: canvas)
    }
    for (n, panel) in panels.enumerated() {
      let corner = SIMD2(Double(n % columns), Double(n / columns)) * Self.panelSize + [0, top]
      canvas.moved(by: corner) { TopView(panel: panel, canvas: canvas).draw() }
    }
  }

  private func drawLegend(on canvas: any Canvas) {
    var x = PlotLayout.margin + 8
    for entry in legend {
      canvas.moved(by: [x - 12, 58]) { entry.draw(on: canvas) }
      canvas.text(entry.text, at: [x + 14, 70], anchor: [0, 0.5], size: 9.5)
      x += 14 + canvas.width(of: entry.text, size: 9.5) + 26
    }
  }

  /// Each panel as a plot of its own, without header.
  public var separatePanels: [TopViewPlot] {
    panels.map { TopViewPlot(title, panels: [$0], hasHeader: false) }
  }

  /// The marks that occur, with what they mean.
  public var legend: [LegendMark] {
    let verdicts = Set(panels.flatMap(\.voices).map(\.verdict))
    var marks = [
      LegendMark("should be here", .ring), LegendMark("came out here: right", .verdict(.right)),
    ]
    if verdicts.contains(.weak) { marks.append(LegendMark("weak", .verdict(.weak))) }
    marks.append(LegendMark("wrong", .verdict(.wrong)))
    if panels.contains(where: { $0.voices.contains { $0.excess != nil } }) {
      marks.append(LegendMark("too loud", .excess))
    }
    if panels.contains(where: { $0.distance == .level }) {
      marks.append(LegendMark("no farther out than this", .limit))
    }
    return marks
  }

  /// One mark of the legend, as a small plot.
  public struct LegendMark: Plot {
    enum Kind: Sendable {
      case ring, limit, excess
      case verdict(Voice.Verdict)
    }

    public let text: String
    private let kind: Kind

    init(_ text: String, _ kind: Kind) {
      self.text = text
      self.kind = kind
    }

    package var size: SIMD2<Double> { [24, 24] }

    package func draw(on canvas: any Canvas) {
      switch kind {
      case .ring: VoiceMark.ring(on: canvas, at: size / 2)
      case .limit: canvas.stroke([[3, 12], [21, 12]], .black, width: 2)
      case .excess:
        canvas.text("+3 dB", at: size / 2, anchor: [0.5, 0.5], size: 8.5, isBold: true, .orange)
      case .verdict(let verdict): VoiceMark.draw(verdict, on: canvas, at: size / 2, radius: 6)
      }
    }
  }
}
