import AudioFiles

/// A drawing of a fixed size: the same as a file, on a sheet and in a page.
package protocol Plot: Sendable {
  /// In points.
  var size: SIMD2<Double> { get }
  /// Draws it with the upper left corner at the origin.
  func draw(on canvas: any Canvas)
}

extension Plot {
  /// Writes an SVG or PNG file, according to the extension of its name.
  package func write(_ file: OutputFile) throws { try file.write(image(named: file.path)) }

  /// The bytes of an SVG or PNG file, according to the extension of its name.
  package func image(named name: String) throws -> [UInt8] {
    let canvas = try ImageCanvas(path: name, size: size)
    draw(on: canvas)
    return try canvas.finish()
  }

  /// An SVG element for a page of HTML, which defines its colours: see `PlotColour.variables`.
  /// - Parameter description: what it shows, for readers who cannot see it.
  package func markup(description: String) -> String {
    let canvas = MarkupCanvas()
    draw(on: canvas)
    let (width, height) = (Int(size.x.rounded(.up)), Int(size.y.rounded(.up)))
    return
      "<svg role=\"img\" aria-label=\"\(description.escapedForHTML)\" viewBox=\"0 0 \(width) \(height)\" "
      + "width=\"\(width)\" height=\"\(height)\">\(canvas.elements)</svg>"
  }
}

/// Several plots on one page, in rows.
package struct PlotSheet: Plot {
  private let rows: [[any Plot]]

  package init(rows: [[any Plot]]) { self.rows = rows.filter { !$0.isEmpty } }

  package var size: SIMD2<Double> {
    [
      rows.map { $0.reduce(0) { $0 + $1.size.x } }.max() ?? 1,
      max(1, rows.reduce(0) { $0 + Self.height($1) }),
    ]
  }

  package func draw(on canvas: any Canvas) {
    var corner = SIMD2<Double>.zero
    for row in rows {
      for plot in row {
        canvas.moved(by: corner) { plot.draw(on: canvas) }
        corner.x += plot.size.x
      }
      corner = [0, corner.y + Self.height(row)]
    }
  }

  private static func height(_ row: [any Plot]) -> Double { row.map(\.size.y).max() ?? 0 }
}
