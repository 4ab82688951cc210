import Acoustics
import Glibc
import Text

/// Where a voice of a check comes from, relative to the listener of its case.
public enum VoiceDirection: String, CaseIterable, Sendable {
  case left, right, front, behind

  /// Positive to the left of the listener.
  package var azimuth: Angle {
    switch self {
    case .left: .degrees(90)
    case .right: .degrees(-90)
    case .front: .degrees(0)
    case .behind: .degrees(180)
    }
  }

  fileprivate var side: VoiceExpectation.Side {
    switch self {
    case .left: .left
    case .right: .right
    case .front, .behind: .middle
    }
  }

  /// Follows "the voice" in a message.
  package var phrase: String {
    switch self {
    case .front: "in front"
    case .behind: "behind"
    case .left, .right: "from the \(rawValue)"
    }
  }
}

/// What a listener expects of one voice of a check.
public struct VoiceExpectation: Hashable, Sendable {
  public enum Side: String, Sendable {
    case left, middle, right

    /// The sign of the expected level and time differences: positive for left.
    fileprivate var sign: Double {
      switch self {
      case .left: 1
      case .middle: 0
      case .right: -1
      }
    }
  }

  /// Where the voice must appear. Nil for mono patterns, which have no sides.
  public let side: Side?
  /// Maximum level in decibels relative to the voice in front. Nil if any level is acceptable.
  public let highestOverFront: Double?
}

extension CheckCase {
  /// What a listener expects of the voice from `direction` in this case; see `CaseCriteria`.
  public func expectation(of direction: VoiceDirection) -> VoiceExpectation {
    let levels = polarPattern.highestLevels
    let highest: Decibels? =
      switch direction {
      case .front: nil
      case .left, .right: isStereo ? nil : levels.sides
      case .behind: isStereo ? CaseCriteria.loudestBehind : levels.behind
      }
    return VoiceExpectation(side: isStereo ? direction.side : nil, highestOverFront: highest?.value)
  }

  /// The level relative to the voice in front from which on a voice from `direction` is weak; nil if any is right.
  private func weakLevel(of direction: VoiceDirection) -> Double? {
    switch direction {
    case .front: nil
    case .left, .right: isStereo ? nil : polarPattern.weakLevels.sides.value
    case .behind:
      isStereo
        ? (tellsFrontFromBehind ? -CaseCriteria.clearFrontBack.value : nil)
        : polarPattern.weakLevels.behind.value
    }
  }

  /// How `voice` came out, and what is wrong or weak about it, as the rest of a sentence.
  func judgement(of voice: CheckResults.Voice) -> (verdict: CaseCriteria.Verdict, text: String) {
    let placed = voice.expectation.side.map { placement(of: voice, expectedAt: $0) } ?? (.right, "")
    let loud = loudness(of: voice)
    if placed.verdict == .wrong { return placed }
    if loud.verdict == .wrong { return loud }
    return placed.verdict == .weak ? placed : loud
  }

  private func loudness(of voice: CheckResults.Voice) -> (verdict: CaseCriteria.Verdict, text: String) {
    func text(_ limit: Double) -> String {
      String(
        format: "is %+.1f dB relative to the one in front, more than %+.1f dB", voice.overFront, limit)
    }
    if let highest = voice.expectation.highestOverFront, voice.overFront > highest {
      return (.wrong, text(highest))
    }
    if let weak = weakLevel(of: voice.direction), voice.overFront > weak { return (.weak, text(weak)) }
    return (.right, "")
  }

  /// Whether a listener hears the voice where it must appear.
  private func placement(
    of voice: CheckResults.Voice, expectedAt side: VoiceExpectation.Side
  ) -> (verdict: CaseCriteria.Verdict, text: String) {
    let heard = voice.heard.degrees
    let found =
      String(
        format: "came out at %+.1f dB and %+.0f µs, which is heard %.0f° to the ", voice.levelDifference,
        1e6 * voice.timeDifference, abs(heard)) + (heard < 0 ? "right" : "left")
    guard side == .middle else {
      let verdict = CaseCriteria.side(.degrees(side.sign * heard))
      let least = verdict == .wrong ? CaseCriteria.leastSide : CaseCriteria.clearSide
      return (verdict, found + String(format: ", not %.0f° to the ", least.degrees) + side.rawValue)
    }
    return (CaseCriteria.middle(voice.heard), found + ", not in the middle")
  }
}
