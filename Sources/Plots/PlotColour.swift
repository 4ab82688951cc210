/// A plot colour in sRGB; each component is 0…1.
public struct PlotColour: Hashable, Sendable {
  /// Of its variable in a page: "blue", "light-grey".
  public let name: String
  let red: Double
  let green: Double
  let blue: Double

  /// Its value in a dark page.
  private let dark: UInt32
  private let light: UInt32

  private init(_ name: String, _ hex: UInt32, dark: UInt32) {
    self.name = name
    self.dark = dark
    light = hex
    red = Double(hex >> 16 & 0xFF) / 255
    green = Double(hex >> 8 & 0xFF) / 255
    blue = Double(hex & 0xFF) / 255
  }

  // Distinguishable with any type of colour vision, and by lightness when printed in grey.
  // - Source: Okabe and Ito, Color universal design (2008).
  public static let blue = PlotColour("blue", 0x0072B2, dark: 0x56B4E9)
  public static let orange = PlotColour("orange", 0xD55E00, dark: 0xF08A3C)
  public static let green = PlotColour("green", 0x009E73, dark: 0x35C497)
  public static let purple = PlotColour("purple", 0xCC79A7, dark: 0xDC98BE)

  /// For what has failed.
  public static let red = PlotColour("red", 0xB3261E, dark: 0xFF8A80)
  public static let black = PlotColour("black", 0x222222, dark: 0xE8E8E8)
  public static let grey = PlotColour("grey", 0x767676, dark: 0xA0A0A0)
  public static let lightGrey = PlotColour("light-grey", 0xDADADA, dark: 0x3C4249)
  static let white = PlotColour("white", 0xFFFFFF, dark: 0x16191D)

  private static let all = [blue, orange, green, purple, red, black, grey, lightGrey, white]

  /// The declarations of all colours as variables of a page's style sheet: "--blue:#0072b2;…".
  public static func variables(isDark: Bool) -> String {
    all.map { colour in
      let digits = String(isDark ? colour.dark : colour.light, radix: 16)
      return "--\(colour.name):#\(String(repeating: "0", count: 6 - digits.count))\(digits);"
    }.joined()
  }
}
