import Acoustics
import Foundation
import Simulation

/// Where each voice of a check came out, and whether that is where the listener expects it.
struct CheckResults {
  struct Voice {
    let voice: CheckScene.Voice
    let found: Localisation
    /// Over the voice in front, in decibels.
    let overFront: Double
    /// What is wrong with it; nil where it came out as expected.
    var fault: String?
  }

  struct Case {
    let checked: CheckCase
    var voices: [Voice]
    var isRight: Bool { voices.allSatisfy { $0.fault == nil } }
    func voice(_ place: CheckScene.Place) -> Voice { voices.first { $0.voice.place == place }! }
  }

  let cases: [Case]
  /// Seconds that the server did not play or record.
  let lostSeconds: Double

  init(_ scene: CheckScene, heard: Hearing) {
    lostSeconds = Double(heard.lostFrames) / Double(scene.sampleRate)
    cases = scene.cases.enumerated().map { n, checked in
      let found = CheckScene.voices.indices.map { v in
        let frames = scene.frames(ofCase: n, voice: v)
        return Localisation(
          left: Array(heard.left[frames]), right: Array(heard.right[frames]),
          reference: Array(heard.reference[frames]), sampleRate: scene.sampleRate)
      }
      let front = found[CheckScene.voices.firstIndex { $0.place == .front }!].level.value
      return Case(
        checked: checked,
        voices: zip(CheckScene.voices, found).map {
          Voice(voice: $0, found: $1, overFront: $1.level.value - front, fault: nil)
        }
      ).judged
    }
  }

  var isRight: Bool { cases.allSatisfy(\.isRight) }

  var table: String {
    let stereo = cases.filter(\.checked.isStereo)
    let mono = cases.filter { !$0.checked.isStereo }
    var lines: [String] = []
    if !stereo.isEmpty {
      lines += [
        "Where each voice came out (left over right in dB; how much earlier left is, in µs):", "",
        "case".padded(26) + "from the left".padded(18) + "from the right".padded(18) + "in front".padded(18)
          + "front over behind",
      ]
      lines += stereo.map { one in
        one.checked.name.padded(26)
          + [CheckScene.Place.left, .right, .front].map { place in
            let found = one.voice(place).found
            return String(
              format: "%+5.1f dB %+4.0f µs", found.levelDifference.value, 1e6 * found.timeDifference
            ).padded(18)
          }.joined() + String(format: "%+5.1f dB", -one.voice(.behind).overFront)
      }
    }
    if !mono.isEmpty {
      if !stereo.isEmpty { lines.append("") }
      lines += [
        "How loud each voice came out (against the one in front, in dB):", "",
        "case".padded(26) + "from the left".padded(18) + "from the right".padded(18) + "from behind",
      ]
      lines += mono.map { one in
        one.checked.name.padded(26)
          + [CheckScene.Place.left, .right, .behind].map {
            String(format: "%+5.1f dB", one.voice($0).overFront).padded(18)
          }.joined().trimmingCharacters(in: .whitespaces)
      }
    }
    return (lines + [""] + verdict).joined(separator: "\n")
  }

  /// What is wrong, a line each, and the sum of it.
  private var verdict: [String] {
    var lines = cases.flatMap { one in
      one.voices.compactMap { voice in
        voice.fault.map { "WRONG: \(one.checked.name): the voice \(voice.voice.phrase) \($0)" }
      }
    }
    if lostSeconds > 0 {
      lines.append(String(format: "This machine was busy: JACK lost %.2f s of the sound.", lostSeconds))
    }
    let wrong = cases.count { !$0.isRight }
    lines.append(
      wrong == 0
        ? "Every voice came out where a listener expects it, in all \(cases.count) cases."
        : "\(wrong) of \(cases.count) cases did not come out as a listener expects.")
    return lines
  }

  var json: [String: Any] {
    [
      "right": isRight, "lostSeconds": lostSeconds,
      "cases": cases.map { one in
        [
          "dataSource": one.checked.selection.dataSource,
          "polarPattern": one.checked.selection.polarPattern.rawValue,
          "inputOrientation": one.checked.isStereo
            ? one.checked.selection.inputOrientation.rawValue as Any : NSNull(),
          "right": one.isRight,
          "voices": one.voices.map { voice in
            [
              "from": voice.voice.place.rawValue, "fault": voice.fault as Any? ?? NSNull(),
              "levelDifferenceDB": voice.found.levelDifference.value,
              "timeDifferenceMicroseconds": 1e6 * voice.found.timeDifference,
              "overFrontDB": voice.overFront,
            ]
          },
        ] as [String: Any]
      },
    ]
  }
}

extension CheckScene.Voice {
  var phrase: String {
    switch place {
    case .front: "in front"
    case .behind: "behind"
    case .left, .right: "from the \(place.rawValue)"
    }
  }
}
