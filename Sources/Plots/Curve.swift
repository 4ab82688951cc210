/// One curve of a plot.
public struct Curve: Sendable {
  /// Text in the legend; empty for no entry. Curves with the same label, colour and dashing share one entry.
  public let label: String
  public let colour: PlotColour
  /// Targets and limits are dashed.
  public let isDashed: Bool
  /// (x, y) in the units of the axes. For polar plots: degrees, counter-clockwise from the top, and decibels.
  public let points: [SIMD2<Double>]

  public init(_ label: String, _ colour: PlotColour, isDashed: Bool = false, points: [SIMD2<Double>]) {
    self.label = label
    self.colour = colour
    self.isDashed = isDashed
    self.points = points
  }

  var width: Double { isDashed ? 1 : 1.6 }
}

/// The heading of a plot.
public struct PlotTitle: Sendable {
  public let title: String
  public let subtitle: String

  public init(_ title: String, _ subtitle: String) {
    self.title = title
    self.subtitle = subtitle
  }
}
