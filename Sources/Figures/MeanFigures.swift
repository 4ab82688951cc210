import Acoustics

/// Means of a report's figures over the cases that it offers, in dB; nil where the device offers no such case.
public struct MeanFigures: Hashable, Sendable {
  /// Left over right, of stereo.
  public let separation: Double?
  /// Front over back, of stereo.
  public let frontBackOfStereo: Double?
  /// Directivity index of cardioids, super- and hypercardioids from 250 Hz to 2 kHz.
  public let directivity: Double?
  /// Front over back of the same.
  public let frontBackOfPatterns: Double?

  public init(_ report: Report) {
    let offered = report.cases.filter(\.supported)
    let stereo = offered.filter { $0.filterCase.polarPattern == .stereo }
    let patterns = offered.filter {
      [.cardioid, .supercardioid, .hypercardioid].contains($0.filterCase.polarPattern)
    }
    func mean(_ values: [Double]) -> Double? {
      values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }
    func octaves(_ figure: SeriesFigure) -> Double? {
      mean(patterns.flatMap { one in [250, 500, 1000, 2000].compactMap { one.figures[figure]?[$0] } })
    }
    separation = mean(stereo.compactMap { $0.figures[.separation] })
    frontBackOfStereo = mean(stereo.compactMap { $0.figures[.frontBack] })
    directivity = octaves(.directivityIndex)
    frontBackOfPatterns = octaves(.frontBackOctaves)
  }
}
