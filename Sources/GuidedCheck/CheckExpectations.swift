import Acoustics
import Foundation

/// Where a voice of a check comes from, as the listener of its case says.
public enum VoiceDirection: String, CaseIterable, Sendable {
  case left, right, front, behind

  /// Continues "the voice".
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

    /// Of level and time differences: left is positive.
    fileprivate var sign: Double {
      switch self {
      case .left: 1
      case .middle: 0
      case .right: -1
      }
    }
  }

  /// Where it comes out. Nil for mono patterns, which have no sides.
  public let side: Side?
  /// How loud it is at most, in decibels over the voice in front. Nil where any level will do.
  public let highestOverFront: Double?
}

/// The limits are the least that the figures of the designs ask of any device (see the decision "A check asks what the
/// figures ask").
extension CheckCase {
  /// Decibels that the front is over behind in stereo, where the array can tell them apart.
  private static let frontOverBehind = 2.5
  /// Decibels by which microphones may differ: what is alike is no further apart.
  private static let mismatch = 1.0

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
  /// Decibels over the front that are allowed at the sides and behind. A directivity index of 2.2 dB is that of a
  /// subcardioid with −2.3 dB at the sides and −5.5 dB behind, one of 3.5 dB that of a cardioid with −4.0 dB and, by
  /// its front/back ratio, −11 dB. Narrower patterns have no figures but 3 dB of front/back, without which they are
  /// not offered. What should be alike may differ by 1 dB, as microphones may.
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
  /// Decibels that left and right are apart, half of the difference between the voices from there.
  private static let separation = 3.5
  /// Seconds. Time differences may be wrong by so much: a smaller one says nothing.
  private static let sideTime = 200e-6

  /// What is wrong with `voice`; nil where it came out as expected.
  func fault(of voice: CheckResults.Voice) -> String? {
    if let side = voice.expectation.side, let fault = fault(of: voice, expectedAt: side) { return fault }
    guard let highest = voice.expectation.highestOverFront, voice.overFront > highest else { return nil }
    return String(
      format: "is %+.1f dB against the one in front, where %+.1f dB is expected at most", voice.overFront,
      highest)
  }

  /// A voice is on the left, in the middle or on the right, whichever is nearest.
  private func fault(of voice: CheckResults.Voice, expectedAt side: VoiceExpectation.Side) -> String? {
    let (level, time) = (voice.levelDifference, voice.timeDifference)
    let found = String(format: "came out at %+.1f dB and %+.0f µs", level, 1e6 * time)
    let border = max(Self.separation, halfDifference(\.levelDifference)) / 2
    guard side == .middle else {
      let isThere = side.sign * level >= border && side.sign * time >= Self.sideTime
      return isThere ? nil : "\(found), not on the \(side.rawValue)"
    }
    let early = abs(halfDifference(\.timeDifference)) / 2
    let isThere = abs(level) <= min(border, Self.separation) && abs(time) <= early
    return isThere ? nil : "\(found), not in the middle"
  }

  /// Half of what the voices from the left and from the right are apart.
  private func halfDifference(_ value: KeyPath<CheckResults.Voice, Double>) -> Double {
    (voice(from: .left)[keyPath: value] - voice(from: .right)[keyPath: value]) / 2
  }
}
