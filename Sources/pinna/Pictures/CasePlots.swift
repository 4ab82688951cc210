import Acoustics
import Figures
import Glibc
import Plots
import Text

/// The plots of one case, which `pinna report --plots` puts into its page and on its sheets.
struct CasePlots {
  /// The prefix of the file names, such as "back-stereo-portrait".
  let name: String
  let isStereo: Bool
  private let curves: CaseCurves
  let heading: String
  private let context: String

  init(_ curves: CaseCurves, of filterCase: FilterCase, context: String) {
    self.curves = curves
    self.context = context
    isStereo = filterCase.polarPattern == .stereo
    heading = filterCase.name
    name = filterCase.name.replacing(", ", with: "-").lowercased()
  }

  /// Three plots of a mono pattern, or four of a stereo case, with the suffixes of their files.
  var files: [(suffix: String, plot: any Plot)] {
    [("polar", polar)] + (isStereo ? [("differences", differences)] : [])
      + [("noise", noise), ("on-axis", onAxis)]
  }

  /// The same as rows of a sheet.
  var rows: [[any Plot]] {
    isStereo ? [[polar], [differences, onAxis], [noise]] : [[polar], [noise, onAxis]]
  }

  /// Whether sound from all directions is equally loud in every octave, to half a decibel: polar plots would be
  /// circles.
  var isEquallyLoudAllRound: Bool {
    (curves.levels + (isStereo ? [] : curves.elevationLevels)).joined().allSatisfy {
      ($0.max() ?? 0) - ($0.min() ?? 0) < 0.5
    }
  }

  private func title(_ quantity: String, _ detail: String) -> PlotTitle {
    PlotTitle("\(heading): \(quantity)", "\(context); \(detail)")
  }

  var polar: PolarPlot {
    let panels = curves.octaves.indices.map { octave in
      PolarPlot.Panel(
        Self.band(curves.octaves[octave]),
        curves: isStereo ? stereoPatterns(octave) : monoPatterns(octave))
    }
    let reference =
      isStereo
      ? "dashed: the target; 0 dB: its highest level in the octave; forward is up"
      : "0 dB: on axis; forward is up"
    return PolarPlot(title("level over azimuth", reference), panels: panels)
  }

  private func monoPatterns(_ octave: Int) -> [Curve] {
    [
      over(curves.azimuths, curves.targetLevels[octave][0], "target", .grey, isDashed: true),
      over(
        curves.azimuths, curves.elevationLevels[octave][0], "vertical plane, upwards to the left", .orange),
      over(curves.azimuths, curves.levels[octave][0], "horizontal plane", .blue),
    ]
  }

  private func stereoPatterns(_ octave: Int) -> [Curve] {
    let ears: [(String, PlotColour)] = [("left", .blue), ("right", .orange)]
    return ears.enumerated().flatMap { ear, style in
      [
        over(curves.azimuths, curves.targetLevels[octave][ear], "", style.1, isDashed: true),
        over(curves.azimuths, curves.levels[octave][ear], style.0, style.1),
      ]
    }
  }

  var differences: LinePlot {
    // From -180° to 180°: the direction straight behind is at both ends.
    let order = curves.azimuths.indices.sorted { signed($0) < signed($1) }
    func azimuthCurve(_ values: [Double], _ label: String, _ colour: PlotColour, isDashed: Bool = false)
      -> Curve
    {
      let points = order.map { SIMD2(signed($0), values[$0]) }
      return Curve(label, colour, isDashed: isDashed, points: points + [SIMD2(180, points[0].y)])
    }
    let bands: [(String, PlotColour)] = [("150–1500 Hz", .blue), ("1.5–12 kHz", .orange)]
    let levels = bands.enumerated().flatMap { n, band in
      [
        azimuthCurve(curves.targetLevelDifferences[n], "", band.1, isDashed: true),
        azimuthCurve(curves.levelDifferences[n], band.0, band.1),
      ]
    }
    let times = [
      azimuthCurve(curves.targetTimeDifferences, "", .green, isDashed: true),
      azimuthCurve(curves.timeDifferences, "time", .green),
    ]
    let allLevels = (curves.levelDifferences + curves.targetLevelDifferences).flatMap(\.self)
    let allTimes = curves.timeDifferences + curves.targetTimeDifferences
    return LinePlot(
      title(
        "differences between the outputs", "positive: left is louder, left is earlier; dashed: the target"),
      horizontal: .linear("Azimuth in degrees, positive to the left", -180...180, step: 30),
      panels: [
        LinePlot.Panel(
          .linear("Level difference in dB", fitting: allLevels, minimumRange: -20...20, step: 5),
          curves: levels),
        LinePlot.Panel(
          .linear("Time difference in µs", fitting: allTimes, minimumRange: -800...800, step: 200),
          curves: times),
      ])
  }

  var noise: LinePlot {
    let values = curves.noiseGain.flatMap(\.self)
    let limit =
      isStereo
      ? Curve("limit", .grey, isDashed: true, points: [[100, 10.5], [16_000, 10.5]])
      : Curve("floor", .grey, isDashed: true, points: [[80, -10], [20_000, -10]])
    let quantity = isStereo ? "noise gain" : "white-noise gain"
    let meaning =
      isStereo
      ? "noise of the microphones relative to the mean over all directions"
      : "a source on axis relative to the noise of the microphones; a single microphone has 0 dB"
    return LinePlot(
      title(quantity, meaning), horizontal: frequencyAxis,
      panels: [
        LinePlot.Panel(
          .linear(
            "\(quantity.prefix(1).uppercased() + quantity.dropFirst()) in dB", fitting: values,
            minimumRange: -15...15,
            step: 5),
          curves: [limit] + overFrequency(curves.noiseGain))
      ])
  }

  var onAxis: LinePlot {
    LinePlot(
      title(
        isStereo ? "response" : "response straight ahead",
        "0 dB: one microphone in the free field" + (isStereo ? "; dashed: the target" : "")),
      horizontal: frequencyAxis,
      panels: [
        response(
          isStereo ? "Straight ahead in dB" : "Level in dB", curves.onAxis, target: curves.targetOnAxis)
      ] + (isStereo ? [response("Diffuse field in dB", curves.diffuse, target: curves.targetDiffuse)] : []))
  }

  private func response(_ axis: String, _ levels: [[Double]], target: [[Double]]) -> LinePlot.Panel {
    let targets = overFrequency(target).map {
      Curve(
        isStereo ? "" : "target", isStereo ? $0.colour : .grey, isDashed: true,
        points: $0.points)
    }
    return LinePlot.Panel(.linear(axis, -25...15, step: 5), curves: targets + overFrequency(levels))
  }

  private var frequencyAxis: PlotAxis { .frequency(80...min(20_000, curves.frequencies.last!)) }

  /// One curve per output.
  private func overFrequency(_ values: [[Double]]) -> [Curve] {
    let styles: [(String, PlotColour)] =
      isStereo ? [("left", .blue), ("right", .orange)] : [("reached", .blue)]
    return zip(values, styles).map { over(curves.frequencies, $0, $1.0, $1.1) }
  }

  private func over(
    _ positions: [Double], _ values: [Double], _ label: String, _ colour: PlotColour, isDashed: Bool = false
  ) -> Curve {
    Curve(label, colour, isDashed: isDashed, points: zip(positions, values).map { [$0, $1] })
  }

  /// Azimuth in degrees, -180°..<180°, positive to the left.
  private func signed(_ index: Int) -> Double {
    let azimuth = curves.azimuths[index]
    return azimuth >= 180 ? azimuth - 360 : azimuth
  }

  /// Such as "250 Hz" or "4 kHz".
  private static func band(_ centre: Double) -> String {
    centre >= 1000 ? String(format: "%g kHz", centre / 1000) : String(format: "%g Hz", centre)
  }
}
