import Acoustics
import Figures
import Text

/// What is wrong or weak about a directional mono pattern.
extension CaseJudgement {
  static func faults(
    _ figures: MonoFigures, pattern: PolarPattern, comparedWith simpler: SimplerPatterns,
    design: DesignParameters
  ) -> [Fault] {
    let least = design.mono.minimumFrontBack
    // A device without some of its microphones (`Device.without`) keeps a pattern whose sides or rear are too loud for
    // a check, if it differs from a simpler one.
    let highest =
      least.value < -PolarPattern.cardioid.highestLevels.behind.value ? nil : pattern.highestLevels
    return [
      frontBackFault(figures, least: least),
      pattern == .figureEight && highest != nil ? nil : samenessFault(figures, simpler.next),
      omnidirectionalFault(figures, simpler.omnidirectional),
      voiceFault(
        "from a side", figures.speech(figures.sides), weak: pattern.weakLevels.sides,
        wrong: highest?.sides),
      voiceFault(
        "behind", figures.speech(figures.behind), weak: pattern.weakLevels.behind, wrong: highest?.behind),
    ].compactMap(\.self)
  }

  private static func frontBackFault(_ figures: MonoFigures, least: Decibels) -> Fault? {
    let reached = figures.speech(figures.frontBack)
    guard figures.targetFrontBack > least, reached < least else { return nil }
    let told = 0 - rounded(-reached.value, beyond: -least.value, step: 0.1)
    return Fault(
      verdict: .wrong,
      text: String(
        format: "sound from behind is " + (told < 0 ? "%.1f dB louder" : "only %.1f dB softer")
          + " than from the front, but %.1f dB softer is required", abs(told), least.value),
      isSeparation: true)
  }

  /// - Parameter next: the next simpler pattern; nil for an ideal omnidirectional one.
  private static func samenessFault(
    _ figures: MonoFigures, _ next: (pattern: PolarPattern, figures: MonoFigures)?
  ) -> Fault? {
    let ideal = figures.targetDirectivity.value - (next?.figures.targetDirectivity.value ?? 0)
    let isByDirectivity = abs(ideal) >= CaseCriteria.leastDirectivityDifference.value
    let least =
      isByDirectivity ? CaseCriteria.leastDirectivityDifference : CaseCriteria.leastFrontBackDifference
    let (own, other) =
      isByDirectivity
      ? (figures.directivityIndex, next?.figures.directivityIndex)
      : (figures.frontBack, next?.figures.frontBack)
    let range = CaseCriteria.comparedOctaves
    let count = figures.octaves(range).count { abs(own[$0].value - (other?[$0].value ?? 0)) >= least.value }
    guard count < CaseCriteria.leastOctaves else { return nil }
    let name = (next?.pattern ?? .omnidirectional).rawValue
    return Fault(
      verdict: .wrong,
      text: "it is hardly different from \(name): its \(isByDirectivity ? "directivity" : "front over back") "
        + String(
          format:
            "differs by %.1f dB or more in only %d of the octaves from %.0f to %.0f Hz, but %d are required",
          least.value, count, range.lowerBound.value, range.upperBound.value, CaseCriteria.leastOctaves))
  }

  /// - Parameters:
  ///   - level: of the voice relative to the one in front.
  ///   - weak, wrong: the level above which a check calls it so; nil if never.
  private static func voiceFault(
    _ place: String, _ level: Decibels, weak: Decibels, wrong: Decibels?
  ) -> Fault? {
    let weakest = weak.value - CaseCriteria.weakMargin.value
    let loudest = wrong.map { $0.value - CaseCriteria.levelMargin.value } ?? .infinity
    guard level.value > min(weakest, loudest) else { return nil }
    let isWrong = level.value > loudest
    let limit = isWrong ? loudest : weakest
    return Fault(
      verdict: isWrong ? .wrong : .weak,
      text: String(
        format: "a voice \(place) is %+.1f dB relative to one in front, but at most %+.1f dB "
          + (isWrong ? "is allowed" : "would be clear"),
        rounded(level.value, beyond: limit, step: 0.1), limit))
  }

  /// The pattern is omnidirectional up to where its directivity begins to differ.
  private static func omnidirectionalFault(_ figures: MonoFigures, _ omnidirectional: MonoFigures?) -> Fault?
  {
    let thirds = figures.directivityThirds
    let first = thirds.indices.first { third in
      guard thirds[third].centre >= CaseCriteria.lowestDirectional else { return false }
      let other = omnidirectional?.directivityThirds[third].index.value ?? 0
      return abs(thirds[third].index.value - other) >= CaseCriteria.leastDirectivityDifference.value
    }
    guard let first, thirds[first].centre > CaseCriteria.lowestDirectional else { return nil }
    return Fault(
      verdict: .weak, text: String(format: "it is omnidirectional below %.0f Hz", thirds[first].centre.value))
  }
}
