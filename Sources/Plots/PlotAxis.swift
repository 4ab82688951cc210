import Glibc
import Text

/// An axis of a line or strip plot: label, range and ticks.
public struct PlotAxis: Sendable {
  public let label: String
  public let range: ClosedRange<Double>
  let isLogarithmic: Bool
  let ticks: [(value: Double, text: String)]
  /// Positions of grid lines without a number.
  let minorTicks: [Double]

  /// A linear axis with ticks at multiples of `step`. Negative numbers get a typographic minus sign (U+2212).
  public static func linear(_ label: String, _ range: ClosedRange<Double>, step: Double) -> PlotAxis {
    let first = (range.lowerBound / step).rounded(.up)
    let last = (range.upperBound / step).rounded(.down)
    let ticks = stride(from: first, through: last, by: 1).map { n in
      let value = n * step
      let text = value == value.rounded() ? String(Int(abs(value))) : String(format: "%g", abs(value))
      return (value, value < 0 ? "−" + text : text)
    }
    return PlotAxis(label: label, range: range, isLogarithmic: false, ticks: ticks, minorTicks: [])
  }

  /// A linear axis that covers all finite `values` and at least `minimumRange`. Ticks are at multiples of `step`, or of
  /// a multiple of it if the range is wide.
  public static func linear(
    _ label: String, fitting values: [Double], minimumRange: ClosedRange<Double>, step: Double
  ) -> PlotAxis {
    let finite = values.filter(\.isFinite)
    let low = min(minimumRange.lowerBound, ((finite.min() ?? 0) / step).rounded(.down) * step)
    let high = max(minimumRange.upperBound, ((finite.max() ?? 0) / step).rounded(.up) * step)
    // A larger step keeps the axis at about eight ticks.
    let count = (high - low) / step
    return linear(label, low...high, step: step * max(1, (count / 8).rounded(.up)))
  }

  /// A logarithmic frequency axis in hertz.
  public static func frequency(_ range: ClosedRange<Double>) -> PlotAxis {
    let decades = [10.0, 100, 1000, 10_000, 100_000]
    let ticks = decades.flatMap { decade in [1.0, 2, 5].map { $0 * decade } }.filter(range.contains)
    let minor = decades.flatMap { decade in (1...9).map { Double($0) * decade } }.filter(range.contains)
    return PlotAxis(
      label: "Frequency in Hz", range: range, isLogarithmic: true,
      ticks: ticks.map { ($0, $0 >= 1000 ? "\(Int($0 / 1000))k" : "\(Int($0))") },
      minorTicks: minor.filter { !ticks.contains($0) })
  }

  /// The position of `value` along the axis: 0 at the lower bound of the range, 1 at the upper bound.
  func fraction(_ value: Double) -> Double {
    let (low, high) = (range.lowerBound, range.upperBound)
    return isLogarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low)
  }
}
