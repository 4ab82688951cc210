/// A plot colour in sRGB; each component is 0…1.
public struct PlotColour: Hashable, Sendable {
  let red: Double
  let green: Double
  let blue: Double

  private init(_ hex: UInt32) {
    red = Double(hex >> 16 & 0xFF) / 255
    green = Double(hex >> 8 & 0xFF) / 255
    blue = Double(hex & 0xFF) / 255
  }

  // Distinguishable with any type of colour vision, and by lightness when printed in grey.
  // - Source: Okabe and Ito, Color universal design (2008).
  public static let blue = PlotColour(0x0072B2)
  public static let orange = PlotColour(0xD55E00)
  public static let green = PlotColour(0x009E73)
  public static let purple = PlotColour(0xCC79A7)

  public static let black = PlotColour(0x222222)
  public static let grey = PlotColour(0x767676)
  public static let lightGrey = PlotColour(0xDADADA)
  static let white = PlotColour(0xFFFFFF)
}
