import Acoustics
import Foundation
import Simulation

/// Where each voice of the demo came out.
struct DemoResults {
  struct Row {
    let selection: Selection
    let voice: DemoScene.Voice
    let found: Localisation

    /// Left and right voices by ≥ 3.5 dB and the right sign of the time difference; nil for the others.
    var isRight: Bool? {
      guard voice.side != 0 else { return nil }
      let side = Double(voice.side)
      return side * found.levelDifference.value >= 3.5 && side * found.timeDifference > 0
    }
  }

  let rows: [Row]
  let take: String?
  let refusal: String?
  let kept: String?
  /// Seconds that the server did not play or record.
  let lostSeconds: Double

  init(scene: DemoScene, heard: DemoHearing, take: String?, refusal: String?, kept: String?) {
    self.take = take
    self.refusal = refusal
    self.kept = kept
    lostSeconds = Double(heard.lostFrames) / Double(scene.sampleRate)
    rows = scene.cases.enumerated().flatMap { n, selection in
      DemoScene.voices.enumerated().map { v, voice in
        let frames = scene.frames(ofCase: n, voice: v)
        return Row(
          selection: selection, voice: voice,
          found: Localisation(
            left: Array(heard.left[frames]), right: Array(heard.right[frames]),
            reference: Array(heard.reference[frames]), sampleRate: scene.sampleRate))
      }
    }
  }

  var isRight: Bool { rows.allSatisfy { $0.isRight ?? true } && take != nil && refusal != nil }

  /// Front against behind of one case: the front voice over the one behind.
  private func frontBack(_ rows: ArraySlice<Row>) -> Double {
    let front = rows.first { $0.voice.name == "front" }!.found.level.value
    let behind = rows.first { $0.voice.name == "behind" }!.found.level.value
    return front - behind
  }

  private var cases: [ArraySlice<Row>] {
    stride(from: 0, to: rows.count, by: DemoScene.voices.count).map { rows[$0..<$0 + DemoScene.voices.count] }
  }

  var table: String {
    var lines = [
      "", "Where each voice came out (left over right in dB; how much earlier left is, in µs):", "",
    ]
    lines.append(
      "case".padded(26) + "from the left".padded(18) + "from the right".padded(18) + "in front over behind")
    for rows in cases {
      let selection = rows.first!.selection
      let sides = rows.filter { $0.voice.side != 0 }.map { row in
        let text = String(
          format: "%+5.1f dB %+4.0f µs", row.found.levelDifference.value, 1e6 * row.found.timeDifference)
        return (text + (row.isRight! ? "" : " WRONG")).padded(18)
      }
      let front = frontBack(rows)
      let verdict =
        abs(front) < 1
        ? String(format: "%+.1f dB: the array cannot tell them apart here", front)
        : String(format: "%+.1f dB", front)
      lines.append(
        "\(selection.dataSource), \(selection.inputOrientation.rawValue)".padded(26) + sides.joined()
          + verdict)
    }
    lines.append("")
    if let take { lines.append("Take: \(take). Refused during it: \(refusal ?? "nothing")") }
    if lostSeconds > 0 {
      lines.append(String(format: "This machine was busy: JACK lost %.2f s of the sound.", lostSeconds))
    }
    if let kept { lines.append("The recordings are in \(kept).") }
    lines.append(
      isRight
        ? "Left and right came out right in all \(cases.count) cases."
        : "Left and right did not come out right in every case.")
    return lines.joined(separator: "\n")
  }

  var json: [String: Any] {
    [
      "right": isRight, "lostSeconds": lostSeconds, "take": take ?? "", "refused": refusal ?? "",
      "voices": rows.map { row in
        [
          "dataSource": row.selection.dataSource, "inputOrientation": row.selection.inputOrientation.rawValue,
          "from": row.voice.name, "levelDifferenceDB": row.found.levelDifference.value,
          "timeDifferenceMicroseconds": 1e6 * row.found.timeDifference, "levelDB": row.found.level.value,
        ] as [String: Any]
      },
    ]
  }
}
