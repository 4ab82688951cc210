import Glibc

/// Levels over azimuth, one panel per frequency band. Forward is up, the listener's left is on the left, and the rings
/// are levels in decibels.
public struct PolarPlot: Plot {
  public struct Panel: Sendable {
    public let title: String
    /// Points are (azimuth in degrees, level in decibels).
    public let curves: [Curve]

    public init(_ title: String, curves: [Curve]) {
      self.title = title
      self.curves = curves
    }
  }

  public let title: PlotTitle
  public let panels: [Panel]
  private let hasHeader: Bool

  /// Levels at the centre and at the outer ring, in decibels.
  private static let levels = -30.0...0
  private static let radius = 84.0
  private static let panelSize: SIMD2<Double> = [244, 236]
  private let mostColumns: Int

  /// - Parameters:
  ///   - hasHeader: false draws the panels alone.
  ///   - columns: the number of panels in a row.
  public init(_ title: PlotTitle, panels: [Panel], hasHeader: Bool = true, columns: Int = 4) {
    self.title = title
    self.panels = panels
    self.hasHeader = hasHeader
    mostColumns = columns
  }

  /// Each panel as a plot of its own, without header.
  public var separatePanels: [PolarPlot] {
    panels.map { PolarPlot(title, panels: [$0], hasHeader: false) }
  }
  /// The distinct entries of the legend.
  public var legend: [Curve] { panels.flatMap(\.curves).distinctEntries }

  private var columns: Int { min(mostColumns, max(hasHeader ? 2 : 1, panels.count)) }
  private var top: Double { hasHeader ? PlotLayout.headerHeight : 0 }

  package var size: SIMD2<Double> {
    let rows = max(1, (panels.count + columns - 1) / columns)
    return [
      Double(columns) * Self.panelSize.x + PlotLayout.margin,
      top + Double(rows) * Self.panelSize.y + PlotLayout.margin / 2,
    ]
  }

  package func draw(on canvas: any Canvas) {
    if hasHeader { canvas.header(title, curves: panels.flatMap(\.curves)) }
    for (n, panel) in panels.enumerated() {
      let corner: SIMD2<Double> = [
        PlotLayout.margin / 2 + Double(n % columns) * Self.panelSize.x,
        top + Double(n / columns) * Self.panelSize.y,
      ]
      draw(panel, on: canvas, corner: corner)
    }
  }

  private func draw(_ panel: Panel, on canvas: any Canvas, corner: SIMD2<Double>) {
    canvas.text(panel.title, at: corner + [PlotLayout.margin / 2, 12], size: 10.5, isBold: true)
    let centre = corner + [Self.panelSize.x / 2, Self.panelSize.y / 2 + 8]
    for azimuth in stride(from: 0.0, to: 360, by: 30) {
      canvas.stroke([centre, centre + Self.offset(azimuth, 0)], .lightGrey, width: 0.6)
    }
    for level in stride(from: -20.0, through: 0, by: 10) {
      canvas.circle(
        centre, radius: Self.distance(level), level == 0 ? .grey : .lightGrey, width: level == 0 ? 0.9 : 0.7)
    }
    for azimuth in stride(from: 0.0, to: 360, by: 90) {
      let degrees = azimuth > 180 ? azimuth - 360 : azimuth
      let label = degrees < 0 ? "−\(Int(-degrees))°" : "\(Int(degrees))°"
      let outside = Self.offset(azimuth, 0) * (1 + 6 / Self.radius)
      canvas.text(
        label, at: centre + outside,
        anchor: [0.5 - outside.x / Self.radius / 2.2, 0.5 - outside.y / Self.radius / 2.2], size: 8.5, .grey)
    }
    for level in stride(from: -20.0, through: 0, by: 10) {
      canvas.text(
        level == 0 ? "0 dB" : "−\(Int(-level))", at: centre + Self.offset(-45, level), anchor: [0.5, 0.5],
        size: 7.5, .grey, hasBackground: true)
    }
    for curve in panel.curves {
      canvas.stroke(
        curve.points.map { centre + Self.offset($0.x, $0.y) }, curve.colour, width: curve.width,
        isDashed: curve.isDashed, isClosed: true)
    }
  }

  /// Distance from the centre for a level in decibels, limited to 1.12 radii, which still fits into a panel.
  private static func distance(_ level: Double) -> Double {
    radius * min(max(0, (level - levels.lowerBound) / (levels.upperBound - levels.lowerBound)), 1.12)
  }

  /// Offset from the centre for an azimuth in degrees, positive to the left, and a level in decibels.
  private static func offset(_ azimuth: Double, _ level: Double) -> SIMD2<Double> {
    let angle = azimuth * .pi / 180
    return distance(level) * [-sin(angle), -cos(angle)]
  }
}
