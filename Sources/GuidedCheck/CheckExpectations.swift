import Acoustics
import Foundation

/// Where a voice of a check comes from, relative to the listener of its case.
public enum VoiceDirection: String, CaseIterable, Sendable {
  case left, right, front, behind

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

/// The limits are the lowest that the required figures imply for any device; see "A check asks what the figures ask"
/// in docs/decisions.md.
extension CheckCase {
  /// Minimum front-to-back ratio of stereo in decibels, if the array can tell front from back.
  private static let frontOverBehind = 2.5
  /// Tolerance for mismatched microphones in decibels: voices that should be equally loud may differ by this much.
  private static let mismatch = 1.0

  /// What a listener expects of the voice from `direction` in this case.
  public func expectation(of direction: VoiceDirection) -> VoiceExpectation {
    guard isStereo else {
      let limits = polarPattern.limits
      return switch direction {
      case .front: VoiceExpectation(side: nil, highestOverFront: nil)
      case .left, .right: VoiceExpectation(side: nil, highestOverFront: limits.sides)
      case .behind: VoiceExpectation(side: nil, highestOverFront: limits.behind)
      }
    }
    return switch direction {
    case .left: VoiceExpectation(side: .left, highestOverFront: nil)
    case .right: VoiceExpectation(side: .right, highestOverFront: nil)
    case .front: VoiceExpectation(side: .middle, highestOverFront: nil)
    case .behind:
      VoiceExpectation(
        side: .middle, highestOverFront: tellsFrontFromBehind ? -Self.frontOverBehind : Self.mismatch)
    }
  }
}

extension PolarPattern {
  /// Maximum levels at the sides and behind, in decibels relative to the front.
  ///
  /// They follow from the required figures. A first-order pattern with a directivity index of 2.2 dB, as required of
  /// subcardioids, has −2.3 dB at the sides and −5.5 dB behind. Cardioids must have 3.5 dB, which means −4.0 dB at the
  /// sides; their limit behind, −11 dB, is the required front/back ratio. Narrower patterns share the cardioid's
  /// limit at the sides; the only figure required of them is the front/back ratio of 3 dB below which they are not
  /// offered. Levels that should be equal may differ by 1 dB, as microphones may.
  fileprivate var limits: (sides: Double, behind: Double) {
    switch self {
    case .subcardioid: (-2.3, -5.5)
    case .cardioid: (-4, -11)
    case .supercardioid, .hypercardioid: (-4, -3)
    case .figureEight: (-4, 1)
    case .omnidirectional, .stereo: (1, 1)
    }
  }
}

extension CheckResults.Case {
  /// Least separation that the figures require of any device, in decibels: half the difference between the level
  /// differences of the voices from the left and from the right.
  private static let separation = 3.5
  /// Maximum error of time differences in seconds. A smaller time difference does not show a side.
  private static let sideTime = 200e-6

  /// What is wrong with `voice`; nil if it came out as expected.
  func fault(of voice: CheckResults.Voice) -> String? {
    if let side = voice.expectation.side, let fault = fault(of: voice, expectedAt: side) { return fault }
    guard let highest = voice.expectation.highestOverFront, voice.overFront > highest else { return nil }
    return String(
      format: "is %+.1f dB relative to the one in front, more than the maximum of %+.1f dB", voice.overFront,
      highest)
  }

  /// Checks whether a voice appears at `side`.
  ///
  /// The border between the middle and a side is half the mean level difference of the two side voices, and at least
  /// half of `separation`. At a side, the level difference must reach the border, and the time difference `sideTime`.
  /// In the middle, the level difference must stay within the border and within `separation`, and the time difference
  /// within half the mean time difference of the side voices.
  private func fault(of voice: CheckResults.Voice, expectedAt side: VoiceExpectation.Side) -> String? {
    let (level, time) = (voice.levelDifference, voice.timeDifference)
    let found = String(format: "came out at %+.1f dB and %+.0f µs", level, 1e6 * time)
    let border = max(Self.separation, halfDifference(\.levelDifference)) / 2
    guard side == .middle else {
      let isThere = side.sign * level >= border && side.sign * time >= Self.sideTime
      return isThere ? nil : "\(found), not on the \(side.rawValue)"
    }
    let widestTime = abs(halfDifference(\.timeDifference)) / 2
    let isThere = abs(level) <= min(border, Self.separation) && abs(time) <= widestTime
    return isThere ? nil : "\(found), not in the middle"
  }

  /// Half of the difference of `value` between the voices from the left and from the right.
  private func halfDifference(_ value: KeyPath<CheckResults.Voice, Double>) -> Double {
    (voice(from: .left)[keyPath: value] - voice(from: .right)[keyPath: value]) / 2
  }
}
