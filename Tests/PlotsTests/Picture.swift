import CCairo
import Plots
import TestSupport
import Testing

/// The pixels of a PNG file, read by cairo.
struct Picture {
  let width: Int
  let height: Int
  /// Red, green and blue of each pixel, 0…255, row by row.
  private let pixels: [SIMD3<Int>]

  init(png path: String) throws {
    let surface = cairo_image_surface_create_from_png(path)
    defer { cairo_surface_destroy(surface) }
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
      let data = cairo_image_surface_get_data(surface)
    else { throw PlotError("\(path) is no PNG") }
    width = Int(cairo_image_surface_get_width(surface))
    height = Int(cairo_image_surface_get_height(surface))
    let stride = Int(cairo_image_surface_get_stride(surface))
    var pixels: [SIMD3<Int>] = []
    for y in 0..<height {
      for x in 0..<width {
        let at = y * stride + 4 * x
        pixels.append([Int(data[at + 2]), Int(data[at + 1]), Int(data[at])])
      }
    }
    self.pixels = pixels
  }

  /// The number of pixels of exactly `colour` below the legend.
  func count(of colour: SIMD3<Int>) -> Int {
    pixels.indices.count { $0 / width > Self.legendHeight && pixels[$0] == colour }
  }

  private static let legendHeight = 160

  var colours: Set<SIMD3<Int>> { Set(pixels) }

  /// The range of x and y of pixels of exactly `colour` below the legend.
  func extent(of colour: SIMD3<Int>) -> (x: ClosedRange<Int>, y: ClosedRange<Int>)? {
    let found = pixels.indices.filter { $0 / width > Self.legendHeight && pixels[$0] == colour }
    guard let first = found.first, let last = found.last else { return nil }
    let columns = found.map { $0 % width }
    return (columns.min()!...columns.max()!, first / width...last / width)
  }
}

extension SIMD3<Int> {
  static let blue: Self = [0x00, 0x72, 0xB2]
  static let orange: Self = [0xD5, 0x5E, 0x00]
  static let green: Self = [0x00, 0x9E, 0x73]
  static let red: Self = [0xB3, 0x26, 0x1E]
}

/// The place of a text in a drawing.
func textPlace(of text: String, in markup: String) throws -> SIMD2<Double> {
  let texts = markup.matches(of: /<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>([^<]*)</)
  let match = try #require(texts.first { $0.3 == text }, "\(text) in \(markup)")
  return [try #require(Double(match.1)), try #require(Double(match.2))]
}
