/// The sensitivity of a data source as a function of direction, and the outputs that it is heard through.
public enum PolarPattern: String, NamedWord, Codable {
  case omnidirectional, subcardioid, cardioid, supercardioid, hypercardioid, figureEight, stereo
  /// B-format of orders 1 to 4 in the AmbiX convention: ACN channel order, SN3D normalisation.
  /// - Source: Nachbar et al., ambiX: a suggested Ambisonics format (2011).
  case ambix1, ambix2, ambix3, ambix4

  /// The words for patterns. B-format is asked for as a format with an order: see `ambisonics(order:)`.
  public static let allCases: [PolarPattern] = [
    .omnidirectional, .subcardioid, .cardioid, .supercardioid, .hypercardioid, .figureEight, .stereo,
  ]

  public static let kind = "polar pattern"
  public static let synonyms: [String: PolarPattern] = [
    "omni": .omnidirectional, "figure8": .figureEight, "figure-8": .figureEight,
    "figure-of-eight": .figureEight, "bidirectional": .figureEight,
  ]

  /// The spelling in the seeds' console reports: "Cardioid".
  public var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  /// The omnidirectional coefficient α of the first-order pattern α + (1 − α) cos θ; nil for stereo and B-format.
  public var omnidirectionalPart: Double? {
    switch self {
    case .omnidirectional: 1
    case .subcardioid: 0.7
    case .cardioid: 0.5
    case .supercardioid: 0.366
    case .hypercardioid: 0.25
    case .figureEight: 0
    case .stereo, .ambix1, .ambix2, .ambix3, .ambix4: nil
    }
  }

  public static let ambisonicsOrders = 1...4

  /// B-format of `order`; nil for an order out of `ambisonicsOrders`.
  public static func ambisonics(order: Int) -> PolarPattern? {
    ambisonicsOrders.contains(order) ? [.ambix1, .ambix2, .ambix3, .ambix4][order - 1] : nil
  }

  /// The order of B-format; nil for mono patterns and stereo.
  public var ambisonicsOrder: Int? {
    Self.ambisonicsOrders.first { Self.ambisonics(order: $0) == self }
  }

  /// "cardioid", "ambix of order 1"
  public var phrase: String { ambisonicsOrder.map { "ambix of order \($0)" } ?? rawValue }

  /// Whether it depends on how the device is held: stereo and B-format do, mono patterns do not.
  public var isOriented: Bool { omnidirectionalPart == nil }

  /// Whether it can look in a direction.
  public var hasLook: Bool { !isOriented && self != .omnidirectional }

  /// The number of output channels, which the seeds report as input channels: 1 for mono patterns, 2 for stereo,
  /// (order + 1)² for B-format.
  public var outputs: Int {
    if let order = ambisonicsOrder { return (order + 1) * (order + 1) }
    return self == .stereo ? 2 : 1
  }
}
