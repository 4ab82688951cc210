import Acoustics
import Figures
import FilterDesign
import Glibc
import Manifolds
import Text

/// Whether a case is offered and what it is weak in, by the figures of its finished filters: the criteria of a check,
/// with a margin. A filter set stores it; design, inputs, report and check repeat it.
struct CaseJudgement {
  /// Why the case is not offered; nil if it is.
  let refusal: String?
  /// What the case is weak in; nil if nothing.
  let weakness: String?
  /// Whether `refusal` is about left and right, or front and back: physics may be the reason.
  let isSeparationTooLow: Bool

  /// What a mono pattern must differ from: other patterns of its data source.
  struct SimplerPatterns {
    /// Nil if the source does not offer it: then the ideal one takes its place.
    var omnidirectional: MonoFigures?
    /// The nearest simpler pattern that is offered.
    var next: (pattern: PolarPattern, figures: MonoFigures)?
  }

  /// Judges all cases of `device`. Simpler patterns are judged first, because a pattern that does not differ from one of
  /// them is not offered.
  /// - Parameter cases: with the figures of each.
  static func all(
    _ cases: [(filterCase: FilterCase, reading: CaseReading)], device: Device, manifold: any ArrayManifold
  ) -> [CaseJudgement] {
    func omnidirectionalPart(_ number: Int) -> Double {
      cases[number].filterCase.polarPattern.omnidirectionalPart ?? -1
    }
    var simpler: [String: SimplerPatterns] = [:]
    var judgements: [Int: CaseJudgement] = [:]
    for number in cases.indices.sorted(by: { omnidirectionalPart($0) > omnidirectionalPart($1) }) {
      let (filterCase, reading) = cases[number]
      let (source, pattern) = (filterCase.dataSource, filterCase.polarPattern)
      let judgement = CaseJudgement(
        reading, of: filterCase, comparedWith: simpler[source] ?? SimplerPatterns(), device: device,
        manifold: manifold)
      judgements[number] = judgement
      guard case .mono(let figures) = reading, judgement.refusal == nil else { continue }
      if pattern == .omnidirectional {
        // One directional capsule is no simpler pattern: the ideal one takes its place.
        if device.hasDirectionalCapsule(in: source) { continue }
        simpler[source, default: SimplerPatterns()].omnidirectional = figures
      }
      simpler[source, default: SimplerPatterns()].next = (pattern, figures)
    }
    return cases.indices.map { judgements[$0]! }
  }

  /// How much the finished filters may exceed their noise limit, which truncation raises, before the case is weak, and
  /// before it is not offered.
  private static let noiseTolerance = 1.0
  private static let unusableNoise = 10.0

  private init(
    _ reading: CaseReading, of filterCase: FilterCase, comparedWith simpler: SimplerPatterns,
    device: Device, manifold: any ArrayManifold
  ) {
    var faults: [Fault]
    switch reading {
    case .ambisonics(let figures): faults = Self.faults(figures)
    case .stereo(let figures):
      let source = device.dataSources.first { $0.name == filterCase.dataSource }
      faults = Self.faults(
        figures, design: device.design.stereo,
        tellsFrontFromBehind: source.map { device.tellsFrontFromBehind(along: $0.forward) } ?? false)
    case .mono(let figures):
      faults = Self.noiseFaults(
        figures.noise,
        limit: max(
          device.design.truncation.lowNoiseGain, Decibels(-device.design.mono.whiteNoiseGainFloor.value)))
      if filterCase.polarPattern != .omnidirectional {
        faults =
          Self.faults(
            figures, pattern: filterCase.polarPattern, comparedWith: simpler, design: device.design)
          + faults
      }
    }
    if let frame = device.view(of: filterCase)?.frame, !manifold.knows(horizonAround: frame.up.vector) {
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

  struct Fault {
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
    let told = 0 - rounded(-side, beyond: -least.degrees, step: 1)
    faults.append(
      Fault(
        // A device file may ask for less than a check does.
        verdict: isTooNarrow ? .wrong : CaseCriteria.side(figures.heardAtSides) == .right ? .right : .weak,
        text: String(
          format: "a voice from a side is heard "
            + (told < 0 ? "%.0f° towards the other side" : "only %.0f° towards it")
            + ", but %.0f° towards it ",
          abs(told), least.degrees) + (isTooNarrow ? "is required" : "would be clear"), isSeparation: true))
    let front = figures.heardInFront
    let widest = CaseCriteria.widestMiddle.degrees - CaseCriteria.angleMargin.degrees
    let isOffCentre = abs(front.degrees) > widest
    let most = isOffCentre ? widest : CaseCriteria.clearMiddle.degrees
    faults.append(
      Fault(
        verdict: isOffCentre ? .wrong : CaseCriteria.middle(front),
        text: String(
          format: "a voice in front is heard %.0f° to the ",
          rounded(abs(front.degrees), beyond: most, step: 1))
          + (front.degrees < 0 ? "right" : "left")
          + String(format: ", but at most %.0f° ", most) + (isOffCentre ? "is allowed" : "would be clear")))
    let behind = Decibels(-figures.frontBack.value)
    let loudest = CaseCriteria.loudestBehind.value - CaseCriteria.levelMargin.value
    let isTooLoud = behind.value > loudest
    let level = rounded(
      behind.value, beyond: isTooLoud ? loudest : -CaseCriteria.clearFrontBack.value, step: 0.1)
    faults.append(
      Fault(
        verdict: isTooLoud
          ? .wrong : CaseCriteria.behind(behind, tellsFrontFromBehind: tellsFrontFromBehind),
        text: String(format: "sound from behind is %.1f dB ", abs(level))
          + (level > 0 ? "louder" : "softer") + " than from the front"
          + (isTooLoud
            ? String(format: ", but at most %.1f dB louder is allowed", loudest)
            : String(format: ", but %.1f dB softer would be clear", CaseCriteria.clearFrontBack.value))))
    return faults + noiseFaults(figures.noiseGain, limit: design.finishedNoiseGain)
  }

  /// `value` rounded to multiples of `step`, but always beyond `limit`: a message never reads as if the limit were met.
  static func rounded(_ value: Double, beyond limit: Double, step: Double) -> Double {
    // Adding 0 makes 0 of −0.
    max((value / step).rounded() * step, limit + step) + 0
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

extension Device {
  /// Whether the microphone of a data source's omnidirectional pattern has a direction of its own.
  fileprivate func hasDirectionalCapsule(in source: String) -> Bool {
    let first = dataSources.first { $0.name == source }?.microphones.first
    return first.flatMap { microphones[$0].capsule }.map { $0.omnidirectionalPart < 1 } ?? false
  }
}
