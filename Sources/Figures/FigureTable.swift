import Numerics

/// A value for each figure of a case: the figures themselves, or their losses.
///
/// In JSON it is an object with every key of `Figure` and `SeriesFigure`; the value is null if the figure does not
/// apply.
public struct FigureTable<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
  public var numbers: [Figure: Value] = [:]
  /// Keyed by octave centre in hertz, or as the figure says.
  public var series: [SeriesFigure: [Int: Value]] = [:]

  public init() {}

  public subscript(figure: Figure) -> Value? { numbers[figure] }
  public subscript(figure: SeriesFigure) -> [Int: Value]? { series[figure] }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for figure in Figure.allCases {
      numbers[figure] = try container.decodeIfPresent(Value.self, forKey: Key(figure.rawValue))
    }
    for figure in SeriesFigure.allCases {
      series[figure] = try container.decodeIfPresent([Int: Value].self, forKey: Key(figure.rawValue))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for figure in Figure.allCases { try container.encode(self[figure], forKey: Key(figure.rawValue)) }
    for figure in SeriesFigure.allCases { try container.encode(self[figure], forKey: Key(figure.rawValue)) }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }
}

/// The figures of one case.
public typealias Figures = FigureTable<Double>

/// The degradation of a figure when microphone gains and positions differ from the device file. Positive is worse, in
/// the unit of the figure.
public struct Loss: Codable, Hashable, Sendable {
  /// Mean over all draws of the errors.
  public let mean: Double
  /// Exceeded by at most 5 % of the draws.
  public let tail: Double
  /// Maximum over all draws of the errors.
  public let worst: Double
}

extension FigureTable where Value == Double {
  /// Stores finite values only: JSON cannot represent NaN and infinity.
  package mutating func set(_ figure: Figure, _ value: Double) {
    numbers[figure] = value.isFinite ? value : nil
  }
  package mutating func set(_ figure: SeriesFigure, _ values: [Int: Double]) {
    series[figure] = values.filter(\.value.isFinite)
  }
}

extension FigureTable where Value == Loss {
  /// The losses of `figures`, given the figures under each draw of the array errors.
  package init(of figures: Figures, draws: [Figures]) {
    for (figure, value) in figures.numbers {
      numbers[figure] = Loss(draws.compactMap { $0[figure].map { figure.sense.loss(from: value, to: $0) } })
    }
    for (figure, values) in figures.series {
      guard let sense = figure.sense else { continue }
      var losses: [Int: Loss] = [:]
      for (key, value) in values {
        losses[key] = Loss(draws.compactMap { $0[figure]?[key].map { sense.loss(from: value, to: $0) } })
      }
      series[figure] = losses
    }
  }
}

extension Loss {
  /// Nil if there are no draws.
  fileprivate init?(_ losses: [Double]) {
    guard let worst = losses.max() else { return nil }
    let tail = losses.sorted()[min(losses.count - 1, losses.count * 95 / 100)]
    self.init(mean: Numerics.mean(losses), tail: tail, worst: worst)
  }
}
