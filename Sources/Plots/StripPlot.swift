import Foundation

/// Single values as dots on horizontal strips; each panel has several strips.
public struct StripPlot: Sendable {
  public struct Point: Sendable {
    /// Text in the legend. Points with the same label and colour share one entry.
    public let label: String
    public let colour: PlotColour
    public let value: Double
    /// Marks the point with a cross.
    public let isWrong: Bool

    public init(_ label: String, _ colour: PlotColour, _ value: Double, isWrong: Bool = false) {
      self.label = label
      self.colour = colour
      self.value = value
      self.isWrong = isWrong
    }
  }

  public struct Strip: Sendable {
    public let axis: PlotAxis
    /// Whether values increase from right to left.
    public let isMirrored: Bool
    public let points: [Point]

    public init(_ axis: PlotAxis, isMirrored: Bool = false, points: [Point]) {
      self.axis = axis
      self.isMirrored = isMirrored
      self.points = points
    }
  }

  public struct Panel: Sendable {
    public let title: String
    public let strips: [Strip]

    public init(_ title: String, strips: [Strip]) {
      self.title = title
      self.strips = strips
    }
  }

  public let title: PlotTitle
  public let panels: [Panel]

  private static let columns = 2
  private static let width = 360.0
  private static let left = 20.0
  /// Vertical distance of two points of a strip.
  private static let rowHeight = 7.0
  private static let titleHeight = 22.0
  /// Room for tick and axis labels below a strip.
  private static let axisHeight = 34.0

  public init(_ title: PlotTitle, panels: [Panel]) {
    self.title = title
    self.panels = panels
  }

  /// Writes an SVG or PNG file, according to the extension of `path`.
  public func write(_ path: String) throws(PlotError) {
    let columns = min(Self.columns, max(1, panels.count))
    let rows = stride(from: 0, to: panels.count, by: columns).map {
      Array(panels[$0..<min($0 + columns, panels.count)])
    }
    let heights = rows.map { $0.map(Self.height).max()! }
    let canvas = try Canvas(
      path: path,
      size: [
        Double(Self.columns) * Self.width + Canvas.margin,
        Canvas.headerHeight + heights.reduce(0, +) + Canvas.margin / 2,
      ])
    canvas.header(
      title,
      curves: panels.flatMap(\.strips).flatMap(\.points).map { Curve($0.label, $0.colour, points: []) })
    var top = Canvas.headerHeight
    for (row, height) in zip(rows, heights) {
      for (n, panel) in row.enumerated() {
        draw(panel, on: canvas, corner: [Canvas.margin / 2 + Double(n) * Self.width, top])
      }
      top += height
    }
    try canvas.finish()
  }

  private static func height(_ panel: Panel) -> Double {
    titleHeight + panel.strips.reduce(0) { $0 + height($1) + axisHeight } + 8
  }

  private static func height(_ strip: Strip) -> Double { rowHeight * Double(strip.points.count + 1) }

  private func draw(_ panel: Panel, on canvas: Canvas, corner: SIMD2<Double>) {
    canvas.text(panel.title, at: corner + [Self.left, 12], size: 10.5, isBold: true)
    var top = corner.y + Self.titleHeight
    for strip in panel.strips {
      let stripCorner: SIMD2<Double> = [corner.x + Self.left, top]
      draw(strip, on: canvas, corner: stripCorner, size: [Self.width - 2 * Self.left, Self.height(strip)])
      top += Self.height(strip) + Self.axisHeight
    }
  }

  private func draw(_ strip: Strip, on canvas: Canvas, corner: SIMD2<Double>, size: SIMD2<Double>) {
    func x(_ value: Double) -> Double {
      let fraction = min(1, max(0, strip.axis.fraction(value)))
      return corner.x + size.x * (strip.isMirrored ? 1 - fraction : fraction)
    }
    let bottom = corner.y + size.y
    for tick in strip.axis.ticks {
      canvas.stroke(
        [[x(tick.value), corner.y], [x(tick.value), bottom]], tick.value == 0 ? .grey : .lightGrey,
        width: tick.value == 0 ? 0.9 : 0.7)
      canvas.text(tick.text, at: [x(tick.value), bottom + 4], anchor: [0.5, 0], size: 8, .grey)
    }
    canvas.stroke([[corner.x, bottom], [corner.x + size.x, bottom]], .grey, width: 0.9)
    canvas.text(
      strip.axis.label, at: [corner.x + size.x / 2, bottom + 15], anchor: [0.5, 0], size: 8.5)
    for (n, point) in strip.points.enumerated() where point.value.isFinite {
      let centre: SIMD2<Double> = [x(point.value), corner.y + Self.rowHeight * (Double(n) + 1)]
      canvas.disc(centre, radius: 3.2, point.colour)
      guard point.isWrong else { continue }
      for diagonal in [SIMD2(6.0, 6.0), SIMD2(6.0, -6.0)] {
        canvas.stroke([centre - diagonal, centre + diagonal], .black, width: 1.4)
      }
    }
  }
}
