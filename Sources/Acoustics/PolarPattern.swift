/// How loud a data source hears each direction.
public enum PolarPattern: String, NamedWord, Codable {
  case omnidirectional, subcardioid, cardioid, supercardioid, hypercardioid, figureEight, stereo

  public static let kind = "polar pattern"

  /// As the seeds' console prints it: "Cardioid".
  public var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  /// The constant term α of the first-order pattern α + (1 − α) cos θ; nil for stereo.
  public var omnidirectionalPart: Double? {
    switch self {
    case .omnidirectional: 1
    case .subcardioid: 0.7
    case .cardioid: 0.5
    case .supercardioid: 0.366
    case .hypercardioid: 0.25
    case .figureEight: 0
    case .stereo: nil
    }
  }

  /// Channels of what comes out, as the seeds count input channels.
  public var channels: Int { self == .stereo ? 2 : 1 }
}
