/// What plots draw on. Lengths are in points; y increases downwards.
package protocol Canvas: AnyObject {
  func stroke(_ shape: Shape, _ pen: Pen)
  func fill(_ shape: Shape, _ colour: PlotColour)
  /// Clips everything that `draw` draws to a rectangle.
  func clipped(from corner: SIMD2<Double>, size: SIMD2<Double>, _ draw: () -> Void)
  /// Moves everything that `draw` draws.
  func moved(by offset: SIMD2<Double>, _ draw: () -> Void)
  /// Draws a device, which a page may turn around `middle`.
  func device(around middle: SIMD2<Double>, _ draw: () -> Void)
  func write(_ text: String, at point: SIMD2<Double>, _ style: TextStyle)
}

package enum Shape {
  /// A point that is NaN or infinite interrupts the line.
  case polyline([SIMD2<Double>], isClosed: Bool)
  case circle(centre: SIMD2<Double>, radius: Double)
}

package struct Pen {
  /// Lengths of a dash and of the gap after it.
  static let dashes = [4, 2.5]

  let colour: PlotColour
  let width: Double
  let isDashed: Bool
}

package struct TextStyle {
  let size: Double
  let isBold: Bool
  let colour: PlotColour
  /// The point of the text's bounding box that is placed at the text's point, as fractions of its width and height:
  /// (0, 0) is the upper left corner, (0.5, 0.5) the centre. The box has the height of capital letters.
  let anchor: SIMD2<Double>
  /// From bottom to top.
  let isVertical: Bool
  /// Draws a white background, so that no line runs through the text.
  let hasBackground: Bool
}

extension Canvas {
  func device(around middle: SIMD2<Double>, _ draw: () -> Void) { draw() }

  /// Draws a polyline. A NaN or infinite point interrupts it.
  func stroke(
    _ points: [SIMD2<Double>], _ colour: PlotColour, width: Double = 1, isDashed: Bool = false,
    isClosed: Bool = false
  ) {
    stroke(
      .polyline(points, isClosed: isClosed), Pen(colour: colour, width: width, isDashed: isDashed))
  }

  func circle(
    _ centre: SIMD2<Double>, radius: Double, _ colour: PlotColour, width: Double = 1, isDashed: Bool = false
  ) {
    stroke(
      .circle(centre: centre, radius: radius), Pen(colour: colour, width: width, isDashed: isDashed))
  }

  func disc(_ centre: SIMD2<Double>, radius: Double, _ colour: PlotColour) {
    fill(.circle(centre: centre, radius: radius), colour)
  }

  func polygon(_ corners: [SIMD2<Double>], _ colour: PlotColour) {
    fill(.polyline(corners, isClosed: true), colour)
  }

  func text(
    _ text: String, at point: SIMD2<Double>, anchor: SIMD2<Double> = [0, 1], size: Double = 9,
    isBold: Bool = false, _ colour: PlotColour = .black, isVertical: Bool = false, hasBackground: Bool = false
  ) {
    write(
      text, at: point,
      TextStyle(
        size: size, isBold: isBold, colour: colour, anchor: anchor, isVertical: isVertical,
        hasBackground: hasBackground))
  }

  /// The advance width of `text`, in points.
  func width(of text: String, size: Double = 9, isBold: Bool = false) -> Double {
    TextMeasure.width(of: text, size: size, isBold: isBold)
  }
}

extension [SIMD2<Double>] {
  /// The points in order, cut where one is NaN or infinite. No run is empty.
  var finiteRuns: [ArraySlice<SIMD2<Double>>] {
    split { !$0.x.isFinite || !$0.y.isFinite }
  }
}

/// Distances that all plots keep, in points.
enum PlotLayout {
  static let margin = 24.0
  /// Of the title, the subtitle and the legend.
  static let headerHeight = 84.0
}
