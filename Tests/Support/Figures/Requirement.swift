import Acoustics
import Figures

/// The bound of a required figure.
package enum Bound: CustomStringConvertible, Sendable {
  case atLeast(Double)
  case atMost(Double)
  case within(ClosedRange<Double>)

  /// How far `value` lies inside the bound; negative outside.
  package func margin(_ value: Double) -> Double {
    switch self {
    case .atLeast(let limit): value - limit
    case .atMost(let limit): limit - value
    case .within(let range): min(value - range.lowerBound, range.upperBound - value)
    }
  }

  package var description: String {
    switch self {
    case .atLeast(let limit): "≥ \(plain(limit))"
    case .atMost(let limit): "≤ \(plain(limit))"
    case .within(let range): "\(plain(range.lowerBound)) … \(plain(range.upperBound))"
    }
  }
}

/// With at most two decimals.
package func plain(_ value: Double) -> String {
  let rounded = (value * 100).rounded() / 100
  return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
}

/// A row of the table of figures: one figure of some cases of one preset's device.
package struct Requirement: Sendable {
  package enum Quantity: Sendable {
    case number(Figure)
    /// In the octaves whose centres lie in the range, in hertz.
    case octaves(SeriesFigure, ClosedRange<Int>)
  }

  package let item: String
  package let preset: String
  package let quantity: Quantity
  package var must: Bound?
  package var aim: Bound?
  /// Selects the cases of the row.
  package let cases: @Sendable (FilterCase) -> Bool

  /// A value with its mean loss and its place: the one closest to missing the bound.
  package struct Reached: Sendable {
    package let value: Double
    package let loss: Double?
    package let place: String
  }

  /// Nil if a case or a figure is missing.
  package func worst(in report: Report) -> Reached? {
    guard let bound = must ?? aim else { return nil }
    var found: [Reached] = []
    for one in report.cases where cases(one.filterCase) {
      guard one.supported else { return nil }
      let name = one.filterCase.inputOrientation?.rawValue
      let place = [one.filterCase.dataSource, name].compactMap(\.self).joined(separator: " ")
      switch quantity {
      case .number(let figure):
        guard let value = one.figures[figure] else { return nil }
        found.append(Reached(value: value, loss: one.losses?[figure]?.mean, place: place))
      case .octaves(let figure, let range):
        let octaves = SeriesFigure.octaves.filter(range.contains)
        for centre in octaves {
          guard let value = one.figures[figure]?[centre] else { return nil }
          found.append(
            Reached(value: value, loss: one.losses?[figure]?[centre]?.mean, place: "\(place), \(centre) Hz"))
        }
      }
    }
    return found.min { bound.margin($0.value) < bound.margin($1.value) }
  }

  package var figureName: String {
    switch quantity {
    case .number(let figure): figure.rawValue
    case .octaves(let figure, let range):
      range.lowerBound == range.upperBound
        ? "\(figure.rawValue) at \(range.lowerBound)"
        : "\(figure.rawValue) \(range.lowerBound)–\(range.upperBound)"
    }
  }
}
