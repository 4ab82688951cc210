import CCairo

/// Widths of texts, as cairo draws them.
enum TextMeasure {
  static let font = "DejaVu Sans"
  /// Height of capital letters, as a fraction of the font size.
  static let capitalHeight = 0.73

  /// The advance width of `text`, in points.
  static func width(of text: String, size: Double, isBold: Bool) -> Double {
    let surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)
    let context = cairo_create(surface)
    defer {
      cairo_destroy(context)
      cairo_surface_destroy(surface)
    }
    return select(size: size, isBold: isBold, width: text, on: context)
  }

  /// Selects the font of `style` on `context`.
  /// - Returns: the advance width of `text`, in points.
  static func width(of text: String, _ style: TextStyle, on context: OpaquePointer) -> Double {
    select(size: style.size, isBold: style.isBold, width: text, on: context)
  }

  private static func select(
    size: Double, isBold: Bool, width text: String, on context: OpaquePointer?
  ) -> Double {
    cairo_select_font_face(
      context, font, CAIRO_FONT_SLANT_NORMAL, isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
    cairo_set_font_size(context, size)
    var extents = cairo_text_extents_t()
    cairo_text_extents(context, text, &extents)
    return extents.x_advance
  }
}
