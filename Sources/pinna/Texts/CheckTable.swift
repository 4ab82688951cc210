import Acoustics
import FoundationEssentials
import GuidedCheck
import Messages
import Text

/// The results of a check as a table and as JSON.
extension CheckResults {
  var table: String {
    let stereo = cases.filter(\.checked.isStereo)
    let mono = cases.filter { !$0.checked.isStereo }
    var lines: [String] = []
    if !stereo.isEmpty {
      lines += ["Where each voice came out (left over right in dB; how much earlier left is, in µs):", ""]
      let rows = stereo.map { one in
        [one.checked.name]
          + [VoiceDirection.left, .right, .front].map { direction in
            let voice = one.voice(from: direction)
            return String(
              format: "%+5.1f dB %+4.0f µs", voice.levelDifference, 1e6 * voice.timeDifference)
          } + [String(format: "%+5.1f dB", -one.voice(from: .behind).overFront)]
      }
      lines += Self.lines(
        [["case", "from the left", "from the right", "in front", "front over behind"]] + rows)
    }
    if !mono.isEmpty {
      if !stereo.isEmpty { lines.append("") }
      lines += ["How loud each voice came out (relative to the one in front, in dB):", ""]
      let rows = mono.map { one in
        [one.checked.name]
          + [VoiceDirection.left, .right, .behind].map {
            String(format: "%+5.1f dB", one.voice(from: $0).overFront)
          }
      }
      lines += Self.lines([["case", "from the left", "from the right", "from behind"]] + rows)
    }
    return (lines + [""] + verdict).joined(separator: "\n")
  }

  /// Where each voice is heard in stereo, without adaptation and with it, and where it speaks, in degrees.
  func angles(beside fixed: CheckResults) -> String {
    let directions: [VoiceDirection] = [.left, .right, .front]
    let rows = zip(fixed.cases, cases).filter { $1.checked.isStereo }.map { before, after in
      [after.checked.name]
        + directions.map {
          String(
            format: "%+.0f → %+.0f of %+.0f", before.voice(from: $0).heard.degrees,
            after.voice(from: $0).heard.degrees, $0.azimuth.degrees)
        }
    }
    let title =
      "At which angle each voice is heard, fixed → adapting, of where it speaks (degrees, left positive):"
    return ([title, ""] + Self.lines([["case", "from the left", "from the right", "in front"]] + rows))
      .joined(
        separator: "\n")
  }

  private static func lines(_ rows: [[String]]) -> [String] { Columns.lines(rows, first: 26, others: 18) }

  /// One line for each voice that is wrong or weak and for what the design says about a weak case, and a summary.
  private var verdict: [String] {
    var lines = cases.flatMap { one -> [String] in
      one.voices.compactMap { voice in voice.fault.map { "WRONG: " + one.sentence(voice, $0) } }
        + (one.checked.weakness.map { ["weak: \(one.checked.name): \($0)"] } ?? [])
        + one.voices.compactMap { voice in voice.weakness.map { "weak: " + one.sentence(voice, $0) } }
    }
    if lostSeconds > 0 {
      lines.append(String(format: "This machine was busy: JACK lost %.2f s of the sound.", lostSeconds))
    }
    let wrong = cases.count { !$0.isRight }
    let weak = cases.count(where: \.isWeak)
    lines.append(
      wrong == 0
        ? "Every voice came out where a listener expects it, in all \(cases.count) cases"
          + (weak == 0 ? "." : "; weak: \(weak).")
        : "\(wrong) of \(cases.count) cases did not come out as a listener expects.")
    return lines
  }

  var json: JSONObject {
    ["right": isRight, "lostSeconds": lostSeconds, "cases": cases.map(\.json)]
  }
}

extension CheckResults.Case {
  fileprivate func sentence(_ voice: CheckResults.Voice, _ remark: String) -> String {
    "\(checked.name): the voice \(voice.direction.phrase) \(remark)"
  }

  var json: JSONObject {
    [
      "dataSource": checked.dataSource, "polarPattern": checked.polarPattern,
      "inputOrientation": checked.inputOrientation,
      "look": checked.look.map { ["azimuth": $0.azimuth, "elevation": $0.elevation] as JSONObject },
      "right": isRight, "weakness": checked.weakness,
      "voices": voices.map(\.json),
    ]
  }
}

extension CheckResults.Voice {
  fileprivate var json: JSONObject {
    [
      "from": direction.rawValue, "fault": fault, "weakness": weakness, "levelDifferenceDB": levelDifference,
      "heardAtDegrees": heard.degrees,
      "timeDifferenceMicroseconds": 1e6 * timeDifference, "overFrontDB": overFront,
    ]
  }
}
