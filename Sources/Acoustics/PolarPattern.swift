/// The sensitivity of a data source as a function of direction.
public enum PolarPattern: String, NamedWord, Codable {
  case omnidirectional, subcardioid, cardioid, supercardioid, hypercardioid, figureEight, stereo

  public static let kind = "polar pattern"
  public static let synonyms: [String: PolarPattern] = [
    "omni": .omnidirectional, "figure8": .figureEight, "figure-8": .figureEight,
    "figure-of-eight": .figureEight, "bidirectional": .figureEight,
  ]

  /// The spelling in the seeds' console reports: "Cardioid".
  public var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  /// The omnidirectional coefficient α of the first-order pattern α + (1 − α) cos θ; nil for stereo.
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

  /// The number of output channels, which the seeds report as input channels.
  public var channels: Int { self == .stereo ? 2 : 1 }
}
