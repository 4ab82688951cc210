import Acoustics
import Simulation

/// Where each voice of a guided check came out, and whether that is where the listener expects it.
public struct CheckResults: Sendable {
  /// How one voice came out.
  public struct Voice: Sendable {
    /// Where it came from.
    public let direction: VoiceDirection
    public let expectation: VoiceExpectation
    /// Level of left relative to right in decibels, octaves weighted by their importance for speech intelligibility.
    public let levelDifference: Double
    /// Time by which left leads right, in seconds.
    public let timeDifference: Double
    /// Level relative to the voice in front, in decibels.
    public let overFront: Double
    /// What is wrong with the voice, as the rest of a sentence that begins with "the voice from …"; nil if it came out
    /// as expected.
    public internal(set) var fault: String?
  }

  /// How the voices of one case came out.
  public struct Case: Sendable {
    public let checked: CheckCase
    /// One voice from each direction.
    public private(set) var voices: [Voice]

    /// Whether every voice came out as expected.
    public var isRight: Bool { voices.allSatisfy { $0.fault == nil } }

    public func voice(from direction: VoiceDirection) -> Voice {
      voices.first { $0.direction == direction }!
    }

    /// - Parameter found: where the voice from each direction appears in the outputs.
    init(_ checked: CheckCase, _ found: [VoiceDirection: Localisation]) {
      self.checked = checked
      let front = found[.front]!.level.value
      voices = VoiceDirection.allCases.map { direction in
        let voice = found[direction]!
        return Voice(
          direction: direction, expectation: checked.expectation(of: direction),
          levelDifference: voice.levelDifference.value, timeDifference: voice.timeDifference,
          overFront: voice.level.value - front)
      }
      for n in voices.indices { voices[n].fault = fault(of: voices[n]) }
    }
  }

  public let cases: [Case]
  /// Duration of the frames that were lost in the JACK graph, in seconds; 0 without a server.
  public let lostSeconds: Double

  /// Whether every voice of every case came out as expected.
  public var isRight: Bool { cases.allSatisfy(\.isRight) }

  package init(_ scene: CheckScene, _ output: CheckOutput) {
    lostSeconds = Double(output.lostFrames) / Double(scene.sampleRate)
    cases = scene.cases.enumerated().map { n, checked in
      let found = CheckScene.voices.enumerated().map { v, voice in
        let frames = scene.frames(ofCase: n, voice: v)
        return (
          voice.direction,
          Localisation(
            left: Array(output.left[frames]), right: Array(output.right[frames]),
            reference: Array(output.reference[frames]), sampleRate: scene.sampleRate)
        )
      }
      return Case(checked, Dictionary(uniqueKeysWithValues: found))
    }
  }
}
