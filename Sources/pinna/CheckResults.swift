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
    func voice(_ name: String) -> Voice { voices.first { $0.voice.name == name }! }
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
      let front = found[CheckScene.voices.firstIndex { $0.name == "front" }!].level.value
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
          + ["left", "right", "front"].map { name in
            let found = one.voice(name).found
            return String(
              format: "%+5.1f dB %+4.0f µs", found.levelDifference.value, 1e6 * found.timeDifference
            ).padded(18)
          }.joined() + String(format: "%+5.1f dB", -one.voice("behind").overFront)
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
          + ["left", "right", "behind"].map {
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
              "from": voice.voice.name, "fault": voice.fault as Any? ?? NSNull(),
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
    switch name {
    case "front": "in front"
    case "behind": "behind"
    default: "from the \(name)"
    }
  }
}

/// What a listener expects.
extension CheckResults.Case {
  /// A voice at the side is louder and earlier there, by so much at least, and both sides by so much on the average:
  /// what offering stereo asks of filters.
  private static let leastSide = 1.0
  private static let leastSeparation = 3.0
  /// A voice in the middle is less than so much louder on one side, and less than half as early there as voices at
  /// the sides.
  private static let middle = 3.0
  /// How much louder behind may be than in front before that is the wrong way round: arrays on a line cannot tell.
  private static let frontTolerance = 1.0
  /// Of mono patterns: what there must be of the ideal pattern's difference to the front, which is at most taken as
  /// so much.
  private static let share = 0.5
  private static let mostAsked = 6.0

  var judged: Self {
    var judged = self
    for n in voices.indices { judged.voices[n].fault = checked.isStereo ? stereoFault(n) : monoFault(n) }
    return judged
  }

  private func stereoFault(_ n: Int) -> String? {
    let voice = voices[n]
    let (level, time) = (voice.found.levelDifference.value, voice.found.timeDifference)
    let place = String(format: "came out at %+.1f dB and %+.0f µs", level, 1e6 * time)
    let sides = voices.filter { $0.voice.side != 0 }
    let side = Double(voice.voice.side)
    if side != 0 {
      let separation =
        sides.map { Double($0.voice.side) * $0.found.levelDifference.value }.reduce(0, +) / 2
      let isThere = side * level >= Self.leastSide && side * time > 0 && separation >= Self.leastSeparation
      return isThere ? nil : "\(place), not on the \(voice.voice.name)"
    }
    let early = sides.map { abs($0.found.timeDifference) }.reduce(0, +) / 4
    if abs(level) > Self.middle || abs(time) > early { return "\(place), not in the middle" }
    if voice.voice.name == "behind", voice.overFront > Self.frontTolerance {
      return String(format: "is %.1f dB louder than the one in front", voice.overFront)
    }
    return nil
  }

  /// α + (1 − α) cos θ, towards each voice.
  private func monoFault(_ n: Int) -> String? {
    let voice = voices[n]
    let part = checked.selection.polarPattern.omnidirectionalPart ?? 1
    let ideal = abs(part + (1 - part) * cos(voice.voice.azimuth.radians))
    let asked = min(Self.mostAsked, -20 * log10(max(ideal, 1e-6))) * Self.share
    guard -voice.overFront < asked - (asked == 0 ? Self.frontTolerance : 0), voice.voice.name != "front"
    else {
      return nil
    }
    return String(
      format: "is %+.1f dB against the one in front, where %+.1f dB is expected at most", voice.overFront,
      -asked)
  }
}
