import Glibc
import Text

/// A canvas for an SVG element within a page of HTML.
///
/// Text stays text. Colours are the page's variables `--blue`, `--grey` …, so that a page can be light or dark. No
/// element has an ID, so that a page can have many drawings.
final class MarkupCanvas: Canvas {
  private(set) var elements = ""

  func stroke(_ shape: Shape, _ pen: Pen) {
    let dashes = pen.isDashed ? " stroke-dasharray=\"4 2.5\"" : ""
    add(
      shape,
      "fill=\"none\" stroke=\"\(variable(pen.colour))\" stroke-width=\"\(number(pen.width))\"\(dashes)")
  }

  func fill(_ shape: Shape, _ colour: PlotColour) { add(shape, "fill=\"\(variable(colour))\"") }

  func clipped(from corner: SIMD2<Double>, size: SIMD2<Double>, _ draw: () -> Void) {
    // A nested SVG element clips without an ID.
    let (x, y) = (number(corner.x), number(corner.y))
    let (width, height) = (number(size.x), number(size.y))
    elements +=
      "<svg x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" "
      + "viewBox=\"\(x) \(y) \(width) \(height)\">"
    draw()
    elements += "</svg>"
  }

  func moved(by offset: SIMD2<Double>, _ draw: () -> Void) {
    elements += "<g transform=\"translate(\(number(offset.x)) \(number(offset.y)))\">"
    draw()
    elements += "</g>"
  }

  func device(around middle: SIMD2<Double>, _ draw: () -> Void) {
    elements += "<g class=\"device\" data-middle=\"\(number(middle.x)) \(number(middle.y))\">"
    draw()
    elements += "</g>"
  }

  func write(_ text: String, at point: SIMD2<Double>, _ style: TextStyle) {
    guard !text.isEmpty else { return }
    let width = TextMeasure.width(of: text, size: style.size, isBold: style.isBold)
    let height = TextMeasure.capitalHeight * style.size
    // The browser's font may be wider or narrower: it aligns the text at the nearest of start, middle and end.
    let alignment = (2 * style.anchor.x).rounded() / 2
    let shift: SIMD2<Double> = [(alignment - style.anchor.x) * width, (1 - style.anchor.y) * height]
    let origin = style.isVertical ? shift : point + shift
    if style.hasBackground {
      let corner = (style.isVertical ? .zero : point) - style.anchor * [width, height] - [1, 1.5]
      elements +=
        "<rect x=\"\(number(corner.x))\" y=\"\(number(corner.y))\" width=\"\(number(width + 2))\" "
        + "height=\"\(number(height + 3))\" fill=\"\(variable(.white))\"/>"
    }
    let anchor = alignment == 0 ? "" : " text-anchor=\"\(alignment == 1 ? "end" : "middle")\""
    let turn =
      style.isVertical
      ? " transform=\"translate(\(number(point.x)) \(number(point.y))) rotate(-90)\"" : ""
    elements +=
      "<text x=\"\(number(origin.x))\" y=\"\(number(origin.y))\" font-size=\"\(number(style.size))\""
      + (style.isBold ? " font-weight=\"bold\"" : "") + " fill=\"\(variable(style.colour))\"\(anchor)\(turn)>"
      + text.escapedForHTML + "</text>"
  }

  private func add(_ shape: Shape, _ attributes: String) {
    switch shape {
    case .circle(let centre, let radius):
      elements +=
        "<circle cx=\"\(number(centre.x))\" cy=\"\(number(centre.y))\" r=\"\(number(radius))\" \(attributes)/>"
    case .polyline(let points, let isClosed):
      let runs = points.finiteRuns.map { run in
        "M" + run.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L")
      }
      elements += "<path d=\"\(runs.joined())\(isClosed ? "Z" : "")\" \(attributes)/>"
    }
  }

  private func variable(_ colour: PlotColour) -> String { "var(--\(colour.name))" }

  /// To a tenth of a point, without trailing zeros.
  private func number(_ value: Double) -> String {
    let tenths = Int((10 * value).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : String(format: "%g", Double(tenths) / 10)
  }
}

extension String {
  /// The same with the characters replaced that mean something in HTML, and printable.
  package var escapedForHTML: String {
    printableLines.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}
