import CCairo
import FoundationEssentials

/// A canvas for one SVG or PNG file; the file name's extension selects the format. `finish` returns the file's bytes.
final class ImageCanvas: Canvas {
  /// Resolution of PNG files.
  private static let pixelsPerPoint = 2.0

  private let path: String
  private let isPNG: Bool
  private let surface: OpaquePointer
  private let context: OpaquePointer
  private let output = Output()

  /// What cairo writes.
  private final class Output { var bytes: [UInt8] = [] }

  /// Appends to the output that `closure` is.
  private static func append(
    _ closure: UnsafeMutableRawPointer?, _ data: UnsafePointer<UInt8>?, _ count: UInt32
  ) -> cairo_status_t {
    let output = Unmanaged<Output>.fromOpaque(closure!).takeUnretainedValue()
    output.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
    return CAIRO_STATUS_SUCCESS
  }

  init(path: String, size: SIMD2<Double>) throws(PlotError) {
    let format = URL(filePath: path).pathExtension.lowercased()
    guard ["svg", "png"].contains(format) else {
      throw PlotError("cannot draw \(path): unknown image format; use a name that ends in .svg or .png")
    }
    self.path = path
    isPNG = format == "png"
    surface =
      isPNG
      ? cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, Int32(size.x * Self.pixelsPerPoint), Int32(size.y * Self.pixelsPerPoint))
      : cairo_svg_surface_create_for_stream(
        { ImageCanvas.append($0, $1, $2) }, Unmanaged.passUnretained(output).toOpaque(), size.x, size.y)
    context = cairo_create(surface)
    try check()
    if isPNG { cairo_scale(context, Self.pixelsPerPoint, Self.pixelsPerPoint) }
    set(.white)
    cairo_paint(context)
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
  }

  deinit {
    cairo_destroy(context)
    cairo_surface_destroy(surface)
  }

  /// Completes the drawing.
  func finish() throws(PlotError) -> [UInt8] {
    if isPNG {
      cairo_surface_flush(surface)
      try check(
        cairo_surface_write_to_png_stream(
          surface, { ImageCanvas.append($0, $1, $2) }, Unmanaged.passUnretained(output).toOpaque()))
    }
    cairo_surface_finish(surface)
    try check()
    return output.bytes
  }

  func stroke(_ shape: Shape, _ pen: Pen) {
    trace(shape)
    set(pen.colour)
    cairo_set_line_width(context, pen.width)
    cairo_set_dash(context, Pen.dashes, pen.isDashed ? 2 : 0, 0)
    cairo_stroke(context)
  }

  func fill(_ shape: Shape, _ colour: PlotColour) {
    trace(shape)
    set(colour)
    cairo_fill(context)
  }

  func clipped(from corner: SIMD2<Double>, size: SIMD2<Double>, _ draw: () -> Void) {
    cairo_save(context)
    cairo_rectangle(context, corner.x, corner.y, size.x, size.y)
    cairo_clip(context)
    draw()
    cairo_restore(context)
  }

  func moved(by offset: SIMD2<Double>, _ draw: () -> Void) {
    cairo_save(context)
    cairo_translate(context, offset.x, offset.y)
    draw()
    cairo_restore(context)
  }

  func write(_ text: String, at point: SIMD2<Double>, _ style: TextStyle) {
    let width = TextMeasure.width(of: text, style, on: context)
    let height = TextMeasure.capitalHeight * style.size
    cairo_save(context)
    cairo_translate(context, point.x, point.y)
    if style.isVertical { cairo_rotate(context, -.pi / 2) }
    if style.hasBackground {
      set(.white)
      cairo_rectangle(
        context, -style.anchor.x * width - 1, -style.anchor.y * height - 1.5, width + 2, height + 3)
      cairo_fill(context)
    }
    cairo_move_to(context, -style.anchor.x * width, (1 - style.anchor.y) * height)
    set(style.colour)
    cairo_show_text(context, text)
    cairo_restore(context)
  }

  /// Makes `shape` the current path.
  private func trace(_ shape: Shape) {
    cairo_new_path(context)
    switch shape {
    case .circle(let centre, let radius):
      cairo_arc(context, centre.x, centre.y, radius, 0, 2 * .pi)
    case .polyline(let points, let isClosed):
      for run in points.finiteRuns {
        // After a new sub-path the first line only moves.
        cairo_new_sub_path(context)
        for point in run { cairo_line_to(context, point.x, point.y) }
      }
      if isClosed { cairo_close_path(context) }
    }
  }

  private func set(_ colour: PlotColour) {
    cairo_set_source_rgb(context, colour.red, colour.green, colour.blue)
  }

  private func check() throws(PlotError) {
    try check(cairo_status(context))
    try check(cairo_surface_status(surface))
  }

  private func check(_ status: cairo_status_t) throws(PlotError) {
    guard status == CAIRO_STATUS_SUCCESS else {
      throw PlotError(
        "cannot draw \(path): \(String(cString: cairo_status_to_string(status))); try again"
      )
    }
  }
}
