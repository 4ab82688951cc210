/// Curves over a common horizontal axis, in panels stacked vertically.
public struct LinePlot: Plot {
  public struct Panel: Sendable {
    public let axis: PlotAxis
    public let curves: [Curve]

    public init(_ axis: PlotAxis, curves: [Curve]) {
      self.axis = axis
      self.curves = curves
    }
  }

  public let title: PlotTitle
  public let horizontal: PlotAxis
  public let panels: [Panel]
  private var hasHeader = true
  private var width = 640.0

  private static let panelHeight = 210.0
  private static let gap = 20.0
  private static let left = 62.0
  private static let bottom = 50.0

  public init(_ title: PlotTitle, horizontal: PlotAxis, panels: [Panel]) {
    self.title = title
    self.horizontal = horizontal
    self.panels = panels
  }

  /// The panels alone, narrow enough for the screen of a phone.
  public var narrow: LinePlot {
    var plot = self
    (plot.hasHeader, plot.width) = (false, 440)
    return plot
  }

  /// The distinct entries of the legend.
  public var legend: [Curve] { panels.flatMap(\.curves).distinctEntries }

  private var top: Double { hasHeader ? PlotLayout.headerHeight : 8 }

  package var size: SIMD2<Double> {
    let heights = Double(panels.count) * (Self.panelHeight + Self.gap) - Self.gap
    return [width, top + heights + Self.bottom]
  }

  package func draw(on canvas: any Canvas) {
    if hasHeader { canvas.header(title, curves: panels.flatMap(\.curves)) }
    for (n, panel) in panels.enumerated() {
      draw(
        panel, on: canvas, top: top + Double(n) * (Self.panelHeight + Self.gap),
        isLast: n == panels.count - 1)
    }
  }

  private func draw(_ panel: Panel, on canvas: any Canvas, top: Double, isLast: Bool) {
    let corner: SIMD2<Double> = [Self.left, top]
    let size: SIMD2<Double> = [width - Self.left - PlotLayout.margin, Self.panelHeight]
    func point(_ x: Double, _ y: Double) -> SIMD2<Double> {
      corner + size * [horizontal.fraction(x), 1 - panel.axis.fraction(y)]
    }
    let (xs, ys) = (horizontal.range, panel.axis.range)
    func verticalGridLine(_ x: Double, _ width: Double) {
      canvas.stroke([point(x, ys.lowerBound), point(x, ys.upperBound)], .lightGrey, width: width)
    }
    for x in horizontal.minorTicks { verticalGridLine(x, 0.35) }
    for tick in horizontal.ticks { verticalGridLine(tick.value, 0.7) }
    for tick in panel.axis.ticks {
      let isZero = tick.value == 0
      canvas.stroke(
        [point(xs.lowerBound, tick.value), point(xs.upperBound, tick.value)], isZero ? .grey : .lightGrey,
        width: isZero ? 0.9 : 0.7)
      canvas.text(
        tick.text, at: point(xs.lowerBound, tick.value) - [7, 0], anchor: [1, 0.5], size: 9, .grey)
    }
    canvas.clipped(from: corner, size: size) {
      for curve in panel.curves {
        canvas.stroke(
          curve.points.map { point($0.x, $0.y) }, curve.colour, width: curve.width, isDashed: curve.isDashed)
      }
    }
    canvas.stroke(
      [corner, corner + [size.x, 0], corner + size, corner + [0, size.y]], .grey, width: 0.9, isClosed: true)
    canvas.text(
      panel.axis.label, at: [18, top + size.y / 2], anchor: [0.5, 0.5], size: 9.5, isVertical: true)
    guard isLast else { return }
    for tick in horizontal.ticks {
      canvas.text(
        tick.text, at: point(tick.value, ys.lowerBound) + [0, 7], anchor: [0.5, 0], size: 9, .grey)
    }
    canvas.text(
      horizontal.label, at: corner + [size.x / 2, size.y + 26], anchor: [0.5, 0], size: 9.5)
  }
}
