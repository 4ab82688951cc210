import CCairo
import Foundation

/// A drawing surface for one SVG or PNG file; the file name's extension selects the format.
///
/// Lengths are in points; y increases downwards. The drawing goes to `path.part`, which `finish` renames to `path`.
final class Canvas {
  /// Resolution of PNG files.
  private static let pixelsPerPoint = 2.0
  private static let font = "DejaVu Sans"

  let size: SIMD2<Double>
  private let path: String
  private let isPNG: Bool
  private let surface: OpaquePointer
  private let context: OpaquePointer
  private var partPath: String { path + ".part" }

  init(path: String, size: SIMD2<Double>) throws(PlotError) {
    let format = URL(filePath: path).pathExtension.lowercased()
    guard ["svg", "png"].contains(format) else {
      throw PlotError("cannot draw \(path): unknown image format; use a name that ends in .svg or .png")
    }
    self.path = path
    self.size = size
    isPNG = format == "png"
    surface =
      isPNG
      ? cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, Int32(size.x * Self.pixelsPerPoint), Int32(size.y * Self.pixelsPerPoint))
      : cairo_svg_surface_create(path + ".part", size.x, size.y)
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
    unlink(partPath)
  }

  /// Completes the drawing and moves it to its final path.
  func finish() throws(PlotError) {
    if isPNG {
      cairo_surface_flush(surface)
      try check(cairo_surface_write_to_png(surface, partPath))
    }
    cairo_surface_finish(surface)
    try check()
    guard rename(partPath, path) == 0 else {
      throw PlotError(
        "cannot write \(path): \(String(cString: strerror(errno))); choose another folder or name")
    }
  }

  /// Draws a polyline. A NaN or infinite point interrupts it.
  func stroke(
    _ points: [SIMD2<Double>], _ colour: PlotColour, width: Double = 1, isDashed: Bool = false,
    isClosed: Bool = false
  ) {
    var isDrawing = false
    for point in points {
      guard point.x.isFinite, point.y.isFinite else {
        isDrawing = false
        continue
      }
      if isDrawing {
        cairo_line_to(context, point.x, point.y)
      } else {
        cairo_move_to(context, point.x, point.y)
      }
      isDrawing = true
    }
    if isClosed { cairo_close_path(context) }
    stroke(colour, width, isDashed)
  }

  func circle(_ centre: SIMD2<Double>, radius: Double, _ colour: PlotColour, width: Double = 1) {
    cairo_new_sub_path(context)
    cairo_arc(context, centre.x, centre.y, radius, 0, 2 * .pi)
    stroke(colour, width, false)
  }

  func disc(_ centre: SIMD2<Double>, radius: Double, _ colour: PlotColour) {
    cairo_new_sub_path(context)
    cairo_arc(context, centre.x, centre.y, radius, 0, 2 * .pi)
    set(colour)
    cairo_fill(context)
  }

  /// Clips everything that `draw` draws to a rectangle.
  func clipped(from corner: SIMD2<Double>, size: SIMD2<Double>, _ draw: () -> Void) {
    cairo_save(context)
    cairo_rectangle(context, corner.x, corner.y, size.x, size.y)
    cairo_clip(context)
    draw()
    cairo_restore(context)
  }

  /// - Parameters:
  ///   - anchor: the point of the text's bounding box that is placed at `point`, as fractions of its width and height:
  ///     (0, 0) is the upper left corner, (0.5, 0.5) the centre. The box has the height of capital letters.
  ///   - isVertical: draws the text from bottom to top.
  ///   - hasBackground: draws a white background, so that no line runs through the text.
  func text(
    _ text: String, at point: SIMD2<Double>, anchor: SIMD2<Double> = [0, 1], size: Double = 9,
    isBold: Bool = false, _ colour: PlotColour = .black, isVertical: Bool = false, hasBackground: Bool = false
  ) {
    let width = select(size: size, isBold: isBold, width: text)
    cairo_save(context)
    cairo_translate(context, point.x, point.y)
    if isVertical { cairo_rotate(context, -.pi / 2) }
    if hasBackground {
      set(.white)
      cairo_rectangle(
        context, -anchor.x * width - 1, -anchor.y * 0.73 * size - 1.5, width + 2, 0.73 * size + 3)
      cairo_fill(context)
    }
    cairo_move_to(context, -anchor.x * width, (1 - anchor.y) * 0.73 * size)
    set(colour)
    cairo_show_text(context, text)
    cairo_restore(context)
  }

  /// The advance width of `text`, in points.
  func width(of text: String, size: Double = 9, isBold: Bool = false) -> Double {
    select(size: size, isBold: isBold, width: text)
  }

  private func select(size: Double, isBold: Bool, width text: String) -> Double {
    cairo_select_font_face(
      context, Self.font, CAIRO_FONT_SLANT_NORMAL, isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
    cairo_set_font_size(context, size)
    var extents = cairo_text_extents_t()
    cairo_text_extents(context, text, &extents)
    return extents.x_advance
  }

  private func stroke(_ colour: PlotColour, _ width: Double, _ isDashed: Bool) {
    set(colour)
    cairo_set_line_width(context, width)
    cairo_set_dash(context, [4, 2.5], isDashed ? 2 : 0, 0)
    cairo_stroke(context)
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
        "cannot write \(path): \(String(cString: cairo_status_to_string(status))); choose another folder or name"
      )
    }
  }
}
