import Text

/// The high-pass of the outputs against wind, rumble and handling noise.
public enum HighPass: Hashable, Sendable {
  case off
  /// The corner frequency, where it attenuates by 3 dB.
  case on(Hertz)

  /// Valid corner frequencies, in hertz.
  public static let range = 20.0...400.0

  /// The corner frequency; nil if it is off.
  public var frequency: Hertz? {
    if case .on(let frequency) = self { frequency } else { nil }
  }

  /// How files and commands write it: "off", or hertz.
  public var word: String {
    frequency?.value.plain ?? "off"
  }
}
