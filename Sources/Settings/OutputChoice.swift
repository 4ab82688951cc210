import Acoustics

/// The requested destination of the outputs.
public enum OutputChoice: String, NamedWord, Codable {
  /// The ports of `pinna run --monitor`, or the earpieces if the input is a headset.
  case standard
  /// No ports, or the earpieces if the input is a headset. Connections made by others stay.
  case none
  /// Like `standard`, but requested explicitly.
  case speaker
  /// The monitor ports, even if the input is a headset.
  case override

  public static let kind = "output"
}
