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
    name = filterCase.name.replacing(", ", with: "-").replacing("look ", with: "look-").lowercased()
  }

  /// The plots with the suffixes of their files.
  var files: [(suffix: String, plot: any Plot)] {
    [("polar", polar), ("on-axis", onAxis)]
      + (isStereo ? [("heard", heard), ("diffuse", diffuse)] : [("noise", noise)])
  }

  /// The same as rows of a sheet.
  var rows: [[any Plot]] {
    isStereo ? [[polar], [heard, diffuse], [onAxis]] : [[polar], [noise, onAxis]]
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

  /// Where voices are heard, and below it the two cues from which that follows.
  var heard: LinePlot {
    // From -180° to 180°: the direction straight behind is at both ends.
    let order = curves.azimuths.indices.sorted { signed($0) < signed($1) }
    func azimuthCurve(_ values: [Double], _ label: String, _ colour: PlotColour, isDashed: Bool = false)
      -> Curve
    {
      let points = order.map { SIMD2(signed($0), values[$0]) }
      return Curve(label, colour, isDashed: isDashed, points: points + [SIMD2(180, points[0].y)])
    }
    let bands: [(String, PlotColour)] = [("level, 150–1500 Hz", .blue), ("level, 1.5–12 kHz", .orange)]
    let levels = bands.enumerated().flatMap { n, band in
      [
        azimuthCurve(curves.targetLevelDifferences[n], "", band.1, isDashed: true),
        azimuthCurve(curves.levelDifferences[n], band.0, band.1),
      ]
    }
    let angles = [
      azimuthCurve(curves.targetHeard, "", .purple, isDashed: true),
      azimuthCurve(curves.heard, "heard at", .purple),
    ]
    let times = [
      azimuthCurve(curves.targetTimeDifferences, "", .green, isDashed: true),
      azimuthCurve(curves.timeDifferences, "time", .green),
    ]
    let allLevels = (curves.levelDifferences + curves.targetLevelDifferences).flatMap(\.self)
    let allTimes = curves.timeDifferences + curves.targetTimeDifferences
    return LinePlot(
      title(
        "where voices are heard",
        "positive: to the left, left is louder, left is earlier; dashed: a listener's own ears"),
      horizontal: .linear("Azimuth in degrees, positive to the left", -180...180, step: 30),
      panels: [
        LinePlot.Panel(.linear("Heard at, in degrees", -100...100, step: 30), curves: angles),
        LinePlot.Panel(
          .linear("Level difference in dB", fitting: allLevels, minimumRange: -20...20, step: 5),
          curves: levels),
        LinePlot.Panel(
          .linear("Time difference in µs", fitting: allTimes, minimumRange: -800...800, step: 200),
          curves: times),
      ])
  }

  /// Of a mono pattern.
  var noise: LinePlot {
    LinePlot(
      title(
        "white-noise gain",
        "a source on axis relative to the noise of the microphones; a single microphone has 0 dB"),
      horizontal: frequencyAxis,
      panels: [noise("White-noise gain in dB", limit: -10, "floor")])
  }

  private func noise(_ axis: String, limit: Double, _ label: String) -> LinePlot.Panel {
    LinePlot.Panel(
      .linear(axis, fitting: curves.noiseGain.flatMap(\.self), minimumRange: -15...15, step: 5),
      curves: [Curve(label, .grey, isDashed: true, points: [[80, limit], [20_000, limit]])]
        + overFrequency(curves.noiseGain))
  }

  var onAxis: LinePlot {
    LinePlot(
      title(
        "response straight ahead",
        "0 dB: one microphone in the free field"
          + (isStereo ? "; dashed: the target; below: both outputs over it, by third octave" : "")),
      horizontal: frequencyAxis,
      panels: [
        response(
          isStereo ? "Straight ahead in dB" : "Level in dB", curves.onAxis, target: curves.targetOnAxis)
      ] + (isStereo ? [frontErrors] : []))
  }

  private var frontErrors: LinePlot.Panel {
    let limits = [-2.0, 2].map {
      Curve("±2 dB", .grey, isDashed: true, points: [[80, $0], [20_000, $0]])
    }
    return LinePlot.Panel(
      .linear("Relative to the target in dB", fitting: curves.frontErrors, minimumRange: -10...10, step: 5),
      curves: limits + [over(curves.thirdOctaves, curves.frontErrors, "both outputs", .green)])
  }

  /// Of a stereo case.
  var diffuse: LinePlot {
    let coherence = [
      over(curves.octaves, curves.targetCoherence, "", .green, isDashed: true),
      over(curves.octaves, curves.coherence, "both outputs", .green),
    ]
    return LinePlot(
      title(
        "sound from all around",
        "level, coherence by octave, and the microphones' noise relative to it; dashed: the target"),
      horizontal: frequencyAxis,
      panels: [
        response("Diffuse field in dB", curves.diffuse, target: curves.targetDiffuse),
        LinePlot.Panel(.linear("Coherence", 0...1, step: 0.2), curves: coherence),
        noise("Noise gain in dB", limit: 10.5, "limit of noise"),
      ])
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
