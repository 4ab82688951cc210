import Acoustics
import Foundation

/// What a listener expects of a case: the least that the figures of the designs ask of any device (see the decision
/// "A check asks what the figures ask").
extension CheckResults.Case {
  /// Decibels that left and right are apart, half of the difference between the voices from there.
  private static let separation = 3.5
  /// Seconds. Time differences may be wrong by so much: a smaller one says nothing.
  private static let sideTime = 200e-6
  /// Decibels that the front is over behind in stereo, where the array can tell them apart.
  private static let frontOverBehind = 2.5
  /// Decibels by which microphones may differ: what is alike is no further apart.
  private static let mismatch = 1.0

  var judged: Self {
    var judged = self
    for n in voices.indices { judged.voices[n].fault = checked.isStereo ? stereoFault(n) : monoFault(n) }
    return judged
  }

  /// A voice is on the left, in the middle or on the right, whichever is nearest.
  private func stereoFault(_ n: Int) -> String? {
    let voice = voices[n]
    let (level, time) = (voice.found.levelDifference.value, voice.found.timeDifference)
    let place = String(format: "came out at %+.1f dB and %+.0f µs", level, 1e6 * time)
    let sides = voices.filter { $0.voice.side != 0 }
    func apart(_ value: (CheckResults.Voice) -> Double) -> Double {
      sides.map { Double($0.voice.side) * value($0) }.reduce(0, +) / 2
    }
    let border = max(Self.separation, apart { $0.found.levelDifference.value }) / 2
    let side = Double(voice.voice.side)
    if side != 0 {
      let isThere = side * level >= border && side * time >= Self.sideTime
      return isThere ? nil : "\(place), not on the \(voice.voice.place.rawValue)"
    }
    let early = abs(apart { $0.found.timeDifference }) / 2
    if abs(level) > min(border, Self.separation) || abs(time) > early { return "\(place), not in the middle" }
    guard voice.voice.place == .behind else { return nil }
    return loudness(of: voice, atMost: checked.tellsFrontFromBehind ? -Self.frontOverBehind : Self.mismatch)
  }

  private func monoFault(_ n: Int) -> String? {
    let voice = voices[n]
    let limits = checked.selection.polarPattern.limits
    return switch voice.voice.place {
    case .front: nil
    case .behind: loudness(of: voice, atMost: limits.behind)
    case .left, .right: loudness(of: voice, atMost: limits.sides)
    }
  }

  private func loudness(of voice: CheckResults.Voice, atMost most: Double) -> String? {
    guard voice.overFront > most else { return nil }
    return String(
      format: "is %+.1f dB against the one in front, where %+.1f dB is expected at most", voice.overFront,
      most)
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
