import AudioFiles
import Figures
import FoundationEssentials
import Glibc
import Plots
import Text

/// Directivity over all looks: what `pinna report --look all --plots` draws, a plot for each elevation.
struct LookPlots {
  static let help =
    "How directional the pattern is when it looks in each direction, per octave. Where a curve lies near the dashed line, the direction is as good as any array can make it there; near 0 dB it hears all around. Below: how loud the voice that it looks at is."

  let figures: LookFigures
  let table: LookTable

  /// With their descriptions.
  private var plots: [(plot: LinePlot, description: String)] {
    Set(figures.rows.map(\.look.elevation)).sorted().map { elevation in
      let rows = figures.rows.filter { $0.look.elevation == elevation }
      func curves(_ values: (LookFigures.Row) -> [Int: Double]) -> [Curve] {
        let colours: [(Int, PlotColour)] = [
          (250, .black), (500, .purple), (1000, .green), (2000, .blue), (4000, .orange), (8000, .red),
        ]
        return colours.map { octave, colour in
          let points = rows.compactMap { row in
            values(row)[octave].map { SIMD2(row.look.azimuth, $0) }
          }
          // 180° is at both ends.
          let wrapped = points.last.map { $0.x == 180 ? [SIMD2(-180, $0.y)] : [] } ?? []
          return Curve(
            octave < 1000 ? "\(octave) Hz" : "\(octave / 1000) kHz", colour, points: wrapped + points)
        }
      }
      let ideal = figures.idealDirectivityIndexDB
      let all = curves(\.directivityIndexDB) + curves(\.onAxisDB)
      let place = elevation == 0 ? "" : String(format: ", elevation %g°", elevation)
      let plot = LinePlot(
        PlotTitle(
          "\(figures.dataSource), \(figures.polarPattern.phrase): directivity over looks\(place)",
          "\(table.name), \(table.sampleRate) Hz; dashed: the ideal pattern"),
        horizontal: .linear("Azimuth of the look in degrees, positive to the left", -180...180, step: 30),
        panels: [
          LinePlot.Panel(
            .linear(
              "Directivity index in dB",
              fitting: all.prefix(6).flatMap { $0.points.map(\.y) }, minimumRange: 0...6, step: 1),
            curves: [Curve("ideal", .grey, isDashed: true, points: [[-180, ideal], [180, ideal]])]
              + curves(\.directivityIndexDB)),
          LinePlot.Panel(
            .linear(
              "On axis in dB", fitting: all.suffix(6).flatMap { $0.points.map(\.y) }, minimumRange: -3...3,
              step: 1),
            curves: curves(\.onAxisDB)),
        ])
      return (plot, "directivity index over azimuth\(place)")
    }
  }

  var sheet: PlotSheet { PlotSheet(rows: plots.map { [$0.plot] }) }

  /// A page without scripts.
  func html(sheet: String) -> String {
    let drawings = plots.map { plot, description in
      ReportPage.figure(plot.title.title, plot.legend, [(plot.narrow, description)], Self.help)
    }
    return ReportPage.document(
      "\(table.name): \(figures.polarPattern.phrase) by look",
      """
      \(drawings.joined(separator: "\n"))
      <pre>\(table.text.escapedForHTML)</pre>
      <p><a href="\(sheet)">\(sheet)</a></p>
      """)
  }
}
