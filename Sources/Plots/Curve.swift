/// One line of a plot.
public struct Curve: Sendable {
  /// What the legend calls it; curves of one label, colour and stroke share an entry. Empty: none.
  public let label: String
  public let colour: PlotColour
  /// Dashed lines are what was aimed at, or limits.
  public let isDashed: Bool
  /// x and y in the units of the axes: for polar plots degrees, counter-clockwise from the top, and decibels.
  public let points: [SIMD2<Double>]

  public init(_ label: String, _ colour: PlotColour, isDashed: Bool = false, points: [SIMD2<Double>]) {
    self.label = label
    self.colour = colour
    self.isDashed = isDashed
    self.points = points
  }

  var width: Double { isDashed ? 1 : 1.6 }
}

/// What stands above a plot.
public struct PlotTitle: Sendable {
  public let title: String
  public let subtitle: String

  public init(_ title: String, _ subtitle: String) {
    self.title = title
    self.subtitle = subtitle
  }
}
