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
    /// Whether the voice came out as expected.
    public private(set) var verdict = CaseCriteria.Verdict.right
    /// What is wrong or weak about the voice, as the rest of a sentence that begins with "the voice from …".
    private var remark = ""

    /// What is wrong with the voice; nil if it came out as expected.
    public var fault: String? { verdict == .wrong ? remark : nil }
    /// What the voice does less well than the case promises; nil if nothing.
    public var weakness: String? { verdict == .weak ? remark : nil }

    /// Where a listener hears the voice, positive to the left; see `Lateralisation`.
    public var heard: Angle {
      Lateralisation.angle(levelDifference: Decibels(levelDifference), timeDifference: timeDifference)
    }

    fileprivate init(
      _ direction: VoiceDirection, of checked: CheckCase, _ found: Localisation, front: Localisation
    ) {
      self.direction = direction
      expectation = checked.expectation(of: direction)
      levelDifference = found.levelDifference.value
      timeDifference = found.timeDifference
      overFront = found.level.value - front.level.value
      (verdict, remark) = checked.judgement(of: self)
    }
  }

  /// How the voices of one case came out.
  public struct Case: Sendable {
    public let checked: CheckCase
    /// One voice from each direction.
    public let voices: [Voice]

    /// Whether every voice came out as expected; it may be weak.
    public var isRight: Bool { voices.allSatisfy { $0.fault == nil } }

    /// Whether a voice is weak, or the design says so of the filters.
    public var isWeak: Bool { checked.weakness != nil || voices.contains { $0.weakness != nil } }

    public func voice(from direction: VoiceDirection) -> Voice {
      voices.first { $0.direction == direction }!
    }

    /// - Parameter found: where the voice from each direction appears in the outputs.
    init(_ checked: CheckCase, _ found: [VoiceDirection: Localisation]) {
      self.checked = checked
      voices = VoiceDirection.allCases.map {
        Voice($0, of: checked, found[$0]!, front: found[.front]!)
      }
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
