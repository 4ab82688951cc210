import Acoustics
import Figures
import FilterDesign
import HeadResponses
import Manifolds
import Numerics
import Text

extension FilterBank {
  /// The device without the polar patterns and stereo orientations that this bank refuses.
  public func offered(of device: Device) -> Device {
    let refused = Set(refusals.map(\.filterCase))
    return device.offering { !refused.contains($0) }
  }

  /// The mono cases, judged again as a design judges them. Stored sets keep their judgement; tests compare the two.
  package func judgedMono(
    of device: Device, manifold: any ArrayManifold
  ) throws(DesignError) -> FilterBank {
    var mono = self
    mono.cases = cases.filter { !$0.filterCase.polarPattern.isOriented }
    mono.refusals = refusals.filter { !$0.filterCase.polarPattern.isOriented }
    return try mono.withoutInfeasible(device: device, manifold: manifold, hrtf: nil, step: .unobserved)
  }

  /// Moves cases to `refusals` that do not meet `CaseCriteria`, with the margin of designs, or raise noise by more than
  /// their limit, and notes which of the others are weak.
  func withoutInfeasible(
    device: Device, manifold: any ArrayManifold, hrtf: HRTF?, step: DesignStep
  ) throws(DesignError) -> FilterBank {
    let views = cases.map { device.view(of: $0.filterCase, origin: $0.origin)! }
    let field = try MeasuringField(
      manifold: manifold, views: views, frequencies: DesignGrid(sampleRate: sampleRate).frequencies,
      step: step.within(0...0.3))
    let readings = try FigureReader(
      Array(zip(views, cases.map(\.taps))), sampleRate: sampleRate, delayFrames: delayFrames, field: field,
      hrtf: hrtf, step: step.within(0.3...0.4)
    ).read(step: step.within(0.4...0.7))
    let judgements = CaseJudgement.all(
      Array(zip(cases.map(\.filterCase), readings)), device: device, manifold: manifold)
    let steps = step.within(0.7...1).divided(
      by: judgements.map { $0.isSeparationTooLow ? 1 : 0 } + [1])
    var ceiling: EnergyCeiling?
    var bank = self
    (bank.cases, bank.weaknesses, bank.remarks) = ([], [], manifold.remarks)
    for (number, judgement) in judgements.enumerated() {
      let filterCase = cases[number].filterCase
      guard var reason = judgement.refusal else {
        bank.cases.append(cases[number])
        if let weakness = judgement.weakness {
          bank.weaknesses.append(CaseRemark(filterCase: filterCase, text: weakness))
        }
        continue
      }
      if judgement.isSeparationTooLow {
        if ceiling == nil {
          ceiling = try EnergyCeiling(
            manifold: manifold, design: device.design, highestFrequency: field.frequencies.last!,
            step: steps[number])
        }
        reason += try ceiling!.text(
          views[number], channels: device.channels(of: filterCase), step: steps[number])
      }
      bank.refusals.append(CaseRemark(filterCase: filterCase, text: reason))
    }
    return bank
  }
}

extension EnergyCeiling {
  /// The second half of a refusal: what any filters can reach.
  fileprivate func text(
    _ view: CaseView, channels: [Int], step: DesignStep
  ) throws(DesignError) -> String {
    let (separated, levels) =
      switch view {
      case .ears(let frame): ("left and right", try separation(frame, step: step))
      case .pattern(let forward, _):
        ("front and back", try frontBack(forward, channels: channels, step: step))
      case .ambisonics: preconditionFailure("B-format is not refused for a separation")
      }
    let octaves = levels.sorted { $0.key < $1.key }
    let texts = octaves.map { Self.text($0.value) }
    let list =
      Set(texts).count == 1
      ? "\(texts[0]) dB in every octave"
      : "\(texts.joined(separator: ", ")) dB at \(octaves.map { "\($0.key)" }.joined(separator: ", ")) Hz"
    return "; with any filters these microphones separate \(separated) by at most \(list)"
  }

  private static func text(_ level: Double) -> String {
    // Adding 0 turns -0.0 into 0.0.
    String(format: "%.1f", (level * 10).rounded() / 10 + 0)
  }
}

extension Device {
  /// Channels of the microphones that a case uses: all for stereo and B-format, else those of the data source.
  fileprivate func channels(of filterCase: FilterCase) -> [Int] {
    dataSources.first { $0.name == filterCase.dataSource && !filterCase.polarPattern.isOriented }?.microphones
      ?? Array(microphones.indices)
  }
}
