import Acoustics
import Figures
import FilterDesign
import Glibc
import Manifolds
import Text

/// Whether a case is offered, by the figures of its finished filters: the criteria of a check, with a margin.
struct CaseJudgement {
  /// Why the case is not offered; nil if it is.
  let refusal: String?
  /// What the case is weak in; nil if nothing.
  let weakness: String?
  /// Whether `refusal` is about left and right, or front and back: physics may be the reason.
  let isSeparationTooLow: Bool

  /// How much the finished filters may exceed their noise limit, which truncation raises, before the case is weak, and
  /// before it is not offered.
  private static let noiseTolerance = 1.0
  private static let unusableNoise = 10.0

  init(
    _ reading: CaseReading, of filterCase: FilterCase, device: Device, manifold: any ArrayManifold
  ) {
    var faults: [Fault]
    switch reading {
    case .stereo(let figures):
      let source = device.dataSources.first { $0.name == filterCase.dataSource }
      faults = Self.faults(
        figures, design: device.design.stereo,
        tellsFrontFromBehind: source.map { device.tellsFrontFromBehind(along: $0.forward) } ?? false)
    case .mono(let figures):
      faults = Self.faults(figures, pattern: filterCase.polarPattern, design: device.design)
    }
    if case .ears(let frame) = device.view(of: filterCase), !manifold.knows(horizonAround: frame.up.vector) {
      faults.insert(
        Fault(
          verdict: .wrong,
          text:
            "the array was measured in its horizontal plane, which is not the listener's in this orientation"
        ), at: 0)
    }
    let first = faults.first { $0.verdict == .wrong }
    refusal = first?.text
    isSeparationTooLow = first?.isSeparation ?? false
    let weak = faults.filter { $0.verdict == .weak }.map(\.text)
    weakness = weak.isEmpty ? nil : weak.joined(separator: "; ")
  }

  private struct Fault {
    let verdict: CaseCriteria.Verdict
    let text: String
    var isSeparation = false
  }

  private static func faults(
    _ figures: StereoFigures, design: DesignParameters.Stereo, tellsFrontFromBehind: Bool
  ) -> [Fault] {
    var faults: [Fault] = []
    let side = figures.heardAtSides.degrees
    let isTooNarrow = side < design.minimumAngle.degrees
    let least = isTooNarrow ? design.minimumAngle : CaseCriteria.clearSide
    faults.append(
      Fault(
        // A device file may ask for less than a check does.
        verdict: isTooNarrow ? .wrong : CaseCriteria.side(figures.heardAtSides) == .right ? .right : .weak,
        text: String(
          format: "a voice from a side is heard only %.0f° towards it, but %.0f° ", side.rounded() + 0,
          least.degrees)
          + (isTooNarrow ? "is required" : "would be clear"), isSeparation: true))
    let front = figures.heardInFront
    let widest = CaseCriteria.widestMiddle.degrees - CaseCriteria.angleMargin.degrees
    let isOffCentre = abs(front.degrees) > widest
    faults.append(
      Fault(
        verdict: isOffCentre ? .wrong : CaseCriteria.middle(front),
        text: String(format: "a voice in front is heard %.0f° to the ", abs(front.degrees))
          + (front.degrees < 0 ? "right" : "left")
          + String(
            format: isOffCentre ? ", but at most %.0f° is allowed" : ", but at most %.0f° would be clear",
            isOffCentre ? widest : CaseCriteria.clearMiddle.degrees)))
    let behind = Decibels(-figures.frontBack.value)
    let loudest = CaseCriteria.loudestBehind.value - CaseCriteria.levelMargin.value
    let isTooLoud = behind.value > loudest
    faults.append(
      Fault(
        verdict: isTooLoud
          ? .wrong : CaseCriteria.behind(behind, tellsFrontFromBehind: tellsFrontFromBehind),
        text: String(format: "sound from behind is %.1f dB ", abs(behind.value))
          + (behind.value > 0 ? "louder" : "softer") + " than from the front"
          + (isTooLoud
            ? String(format: ", but at most %.1f dB louder is allowed", loudest)
            : String(format: ", but %.1f dB softer would be clear", CaseCriteria.clearFrontBack.value))))
    return faults + noiseFaults(figures.noiseGain, limit: design.finishedNoiseGain)
  }

  private static func faults(
    _ figures: MonoFigures, pattern: PolarPattern, design: DesignParameters
  ) -> [Fault] {
    var faults: [Fault] = []
    let reached = figures.speechFrontBack
    let least = design.mono.minimumFrontBack
    if figures.targetFrontBack > least {
      let isTooLow = reached < least
      let wanted = isTooLow ? least : Decibels(-pattern.weakLevels.behind.value)
      faults.append(
        Fault(
          verdict: isTooLow ? .wrong : reached < wanted ? .weak : .right,
          text: String(
            format: "sound from behind is only %.1f dB softer than from the front, but %.1f dB ",
            (10 * reached.value).rounded() / 10 + 0, wanted.value)
            + (isTooLow ? "is required" : "would be clear"),
          isSeparation: true))
    }
    return faults
      + noiseFaults(
        figures.noise,
        limit: max(design.truncation.lowNoiseGain, Decibels(-design.mono.whiteNoiseGainFloor.value)))
  }

  private static func noiseFaults(_ reached: Decibels, limit: Decibels) -> [Fault] {
    let excess = reached.value - limit.value
    guard excess > noiseTolerance else { return [] }
    let text = String(format: "its filters raise the microphones' noise by %.1f dB", reached.value)
    guard excess > unusableNoise else { return [Fault(verdict: .weak, text: text)] }
    return [
      Fault(
        verdict: .wrong,
        text: text + String(format: ", but at most %.1f dB is allowed", limit.value + unusableNoise))
    ]
  }
}
