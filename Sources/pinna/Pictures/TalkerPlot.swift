import AudioFiles
import FoundationEssentials
import Messages
import Plots
import Recording
import Settings
import Text

/// Who spoke when, and from where: what `pinna report TAKE.wav` tells and draws.
struct TalkerPlot {
  static let help =
    "Each line is somebody who speaks: when, and from which side, in degrees from the front, positive to the left. Colours tell the talkers apart; where lines overlap in time, several spoke at once."

  let name: String
  let utterances: [Utterance]

  private struct Talker {
    let number: Int
    let name: String
    let utterances: [Utterance]

    var seconds: Double { utterances.reduce(0) { $0 + $1.duration } }
    var azimuth: Double { utterances.max { $0.duration < $1.duration }?.look.azimuth ?? 0 }
  }

  private var talkers: [Talker] {
    Dictionary(grouping: utterances, by: \.number).sorted { $0.key < $1.key }.map {
      Talker(number: $0.key, name: $0.value[0].name, utterances: $0.value)
    }
  }

  /// A line for each talker.
  var text: String {
    guard !utterances.isEmpty else { return "\(name): nobody spoke" }
    let rows = talkers.map { talker in
      [
        talker.name, "\(Int(talker.azimuth.rounded()))°", String.formatted("%.1f s", [talker.seconds]),
        "time".counted(talker.utterances.count),
      ]
    }
    return Columns.lines(rows, gap: 2).joined(separator: "\n")
  }

  var json: JSONObject {
    [
      "take": name,
      "talkers": talkers.map {
        [
          "number": $0.number, "name": $0.name, "azimuth": $0.azimuth.rounded(),
          "seconds": ($0.seconds * 1000).rounded() / 1000, "times": $0.utterances.count,
        ] as JSONObject
      },
    ]
  }

  var plot: LinePlot {
    let colours: [PlotColour] = [.blue, .orange, .green, .purple, .black, .red]
    let end = utterances.map(\.end).max() ?? 0
    let isLong = end > 180
    let unit = isLong ? 60.0 : 1
    let curves = talkers.enumerated().flatMap { n, talker in
      talker.utterances.map {
        Curve(
          talker.name, colours[n % colours.count],
          points: [[$0.begin / unit, $0.look.azimuth], [$0.end / unit, $0.look.azimuth]])
      }
    }
    return LinePlot(
      PlotTitle("Who spoke when, from where", name),
      horizontal: .linear(
        isLong ? "Time in minutes" : "Time in seconds", 0...max(1, end / unit),
        step: [1, 2, 5, 10, 20, 30].first { end / unit <= 10 * $0 } ?? 60),
      panels: [.init(.linear("Azimuth in degrees", -190...190, step: 60), curves: curves)])
  }

  /// A page without scripts.
  func html(sheet: String) -> String {
    let title = "\(name): who spoke when, from where"
    return ReportPage.document(
      title,
      """
      \(ReportPage.figure(plot.title.title, plot.legend, [(plot.narrow, title)], Self.help))
      <pre>\(text.escapedForHTML)</pre>
      <p><a href="\(sheet)">\(sheet)</a></p>
      """)
  }
}
