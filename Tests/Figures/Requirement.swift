import Acoustics
import FilterDesign

/// What a figure has to be.
enum Bound: CustomStringConvertible {
  case atLeast(Double)
  case atMost(Double)
  case within(ClosedRange<Double>)

  /// How far inside the bound `value` lies; negative outside.
  func margin(_ value: Double) -> Double {
    switch self {
    case .atLeast(let limit): value - limit
    case .atMost(let limit): limit - value
    case .within(let range): min(value - range.lowerBound, range.upperBound - value)
    }
  }

  var description: String {
    switch self {
    case .atLeast(let limit): "≥ \(plain(limit))"
    case .atMost(let limit): "≤ \(plain(limit))"
    case .within(let range): "\(plain(range.lowerBound)) … \(plain(range.upperBound))"
    }
  }
}

/// Two decimals at most.
func plain(_ value: Double) -> String {
  let rounded = (value * 100).rounded() / 100
  return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
}

/// A row of the table of figures: one figure of some cases of one preset's device.
struct Requirement {
  enum Quantity {
    case number(Figure)
    /// In the octaves whose centres lie in the range, in hertz.
    case octaves(OctaveFigure, ClosedRange<Int>)
  }

  let item: String
  let preset: String
  let quantity: Quantity
  var must: Bound?
  var aim: Bound?
  /// Which cases the row is about.
  let cases: @Sendable (FilterCase) -> Bool

  /// Value, its mean loss, and where it was found: the one nearest to missing `bound`.
  struct Reached {
    let value: Double
    let loss: Double?
    let place: String
  }

  /// Nil where a case or a figure is missing.
  func worst(in report: Report) -> Reached? {
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
        let octaves = OctaveFigure.centres.filter(range.contains)
        for centre in octaves {
          guard let value = one.figures[figure]?[centre] else { return nil }
          found.append(
            Reached(value: value, loss: one.losses?[figure]?[centre]?.mean, place: "\(place), \(centre) Hz"))
        }
      }
    }
    return found.min { bound.margin($0.value) < bound.margin($1.value) }
  }

  var figureName: String {
    switch quantity {
    case .number(let figure): figure.rawValue
    case .octaves(let figure, let range):
      range.lowerBound == range.upperBound
        ? "\(figure.rawValue) at \(range.lowerBound)"
        : "\(figure.rawValue) \(range.lowerBound)–\(range.upperBound)"
    }
  }
}
