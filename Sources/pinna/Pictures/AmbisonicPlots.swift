import Figures
import Plots
import Text

/// The pattern of each channel of B-format per octave, a row for each: what `pinna report --format ambix --plots` shows.
struct AmbisonicPlots {
  /// Of the channels that are heard, in ACN order.
  let rows: [PolarPlot]
  /// Names of the channels that the array does not hear.
  let silent: [String]

  static let help =
    "How loud sound from each direction is in each channel, per octave: solid what the array reaches, dashed the spherical harmonic. Where the solid curve is smaller but of the same shape, the channel is soft; where its shape differs, its directions are wrong, and the correlation is low."

  init(_ curves: HarmonicCurves, figures: AmbisonicsFigures, context: String) {
    rows = curves.channels.indices.filter { !curves.channels[$0].isSilent }.map { n in
      let channel = curves.channels[n]
      let panels = curves.octaves.enumerated().map { octave, centre in
        PolarPlot.Panel(
          Self.panelTitle(centre, figures.channels[n].correlation[centre]),
          curves: [
            Curve(
              "the spherical harmonic", .grey, isDashed: true,
              points: zip(curves.angles, channel.targetLevels).map { [$0, $1] }),
            Curve(
              "reached", channel.planeAzimuth == nil ? .blue : .orange,
              points: zip(curves.angles, channel.levels[octave]).map { [$0, $1] }),
          ])
      }
      return PolarPlot(
        PlotTitle(
          "Channel \(channel.name): level over \(channel.planeAzimuth == nil ? "azimuth" : "elevation")",
          "\(context); \(Self.plane(channel.planeAzimuth)); 0 dB: the harmonic's maximum"),
        panels: panels, columns: curves.octaves.count)
    }
    silent = curves.channels.filter(\.isSilent).map(\.name)
  }

  var sheet: PlotSheet { PlotSheet(rows: rows.map { [$0] }) }

  private static func panelTitle(_ centre: Int, _ correlation: Double?) -> String {
    let band = centre >= 1000 ? "\(centre / 1000) kHz" : "\(centre) Hz"
    return correlation.map { "\(band): correlation \(String(format: "%.2f", $0))" } ?? band
  }

  private static func plane(_ azimuth: Double?) -> String {
    guard let azimuth else { return "horizontal plane, forward is up" }
    let towards = azimuth == 0 ? "forward" : azimuth == 90 ? "left" : "\(Int(azimuth))° to the left"
    return "vertical plane: \(towards) is up, upwards is left"
  }
}
