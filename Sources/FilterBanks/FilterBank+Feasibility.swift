import Acoustics
import Figures
import FilterDesign
import Foundation
import HeadResponses
import Manifolds
import Numerics

extension FilterBank {
  /// The device without the polar patterns and stereo orientations that this bank refuses.
  public func offered(of device: Device) -> Device {
    let refused = Set(refusals.map(\.filterCase))
    let sources = device.dataSources.map { source in
      func isOffered(_ pattern: PolarPattern, _ orientation: InputOrientation?) -> Bool {
        !refused.contains(
          FilterCase(dataSource: source.name, polarPattern: pattern, inputOrientation: orientation))
      }
      let orientations = source.stereoOrientations.filter { isOffered(.stereo, $0) }
      let patterns = source.polarPatterns.filter {
        $0 == .stereo ? !orientations.isEmpty : isOffered($0, nil)
      }
      return DataSource(
        name: source.name, id: source.id, location: source.location, orientation: source.orientation,
        forward: source.forward, microphones: source.microphones, polarPatterns: patterns,
        stereoOrientations: orientations)
    }
    return device.with(dataSources: sources)
  }

  /// Moves cases to `refusals` whose finished filters separate left from right, or front from back, too little.
  func withoutInfeasible(
    device: Device, manifold: any ArrayManifold, hrtf: HRTF?, step: DesignStep
  ) throws(DesignError) -> FilterBank {
    let views = cases.map { device.view(of: $0.filterCase)! }
    let field = try MeasuringField(
      manifold: manifold, views: views, frequencies: DesignGrid(sampleRate: sampleRate).frequencies,
      step: step.within(0...0.3))
    let readings = try FigureReader(
      Array(zip(views, cases.map(\.taps))), sampleRate: sampleRate, delayFrames: delayFrames, field: field,
      hrtf: hrtf, step: step.within(0.3...0.4)
    ).read(step: step.within(0.4...0.7))
    let doubtful = readings.count { $0.shortfall(of: device.design) != nil }
    let steps = step.within(0.7...1).divided(by: [Double](repeating: 1, count: doubtful))
    var ceiling: EnergyCeiling?
    var kept: [FilterCoefficients] = []
    var refused: [Refusal] = []
    for (coefficients, (view, reading)) in zip(cases, zip(views, readings)) {
      guard let (reached, least) = reading.shortfall(of: device.design) else {
        kept.append(coefficients)
        continue
      }
      let physics: EnergyCeiling
      if let ceiling {
        physics = ceiling
      } else {
        physics = try EnergyCeiling(
          manifold: manifold, design: device.design, highestFrequency: field.frequencies.last!,
          step: steps[refused.count])
      }
      ceiling = physics
      refused.append(
        Refusal(
          filterCase: coefficients.filterCase,
          reason: try physics.reason(
            view, channels: device.channels(of: coefficients.filterCase), reached, least: least,
            step: steps[refused.count])
        ))
    }
    return FilterBank(
      device: self.device, sampleRate: sampleRate, microphones: microphones, delayFrames: delayFrames,
      tapCount: tapCount, cases: kept, refusals: refused)
  }
}

extension CaseReading {
  /// The separation that the filters achieve and the required minimum: left/right for stereo, front/back for
  /// directional patterns. Nil if they meet it.
  fileprivate func shortfall(of design: DesignParameters) -> (reached: Decibels, least: Decibels)? {
    switch self {
    case .stereo(let figures):
      let least = design.stereo.leastSeparation
      return figures.separation < least ? (figures.separation, least) : nil
    case .mono(let figures):
      let least = design.mono.leastFrontBack
      return figures.targetFrontBack > least && figures.speechFrontBack < least
        ? (figures.speechFrontBack, least) : nil
    }
  }
}

extension EnergyCeiling {
  /// The text of `Refusal.reason`.
  /// - Parameters:
  ///   - reached: the separation of the filters.
  ///   - least: the required minimum.
  fileprivate func reason(
    _ view: CaseView, channels: [Int], _ reached: Decibels, least: Decibels, step: DesignStep
  ) throws(DesignError) -> String {
    let (separated, levels) =
      switch view {
      case .ears(let frame): ("left and right", try separation(frame, step: step))
      case .pattern(let forward, _):
        ("front and back", try frontBack(forward, channels: channels, step: step))
      }
    let octaves = levels.sorted { $0.key < $1.key }
    let texts = octaves.map { Self.text($0.value) }
    let list =
      Set(texts).count == 1
      ? "\(texts[0]) dB in every octave"
      : "\(texts.joined(separator: ", ")) dB at \(octaves.map { "\($0.key)" }.joined(separator: ", ")) Hz"
    return "its filters would separate \(separated) by only \(Self.text(reached.value)) dB, but "
      + "\(Self.text(least.value)) dB is required; with any filters these microphones allow at most "
      + list
  }

  private static func text(_ level: Double) -> String {
    // Adding 0 turns -0.0 into 0.0.
    String(format: "%.1f", (level * 10).rounded() / 10 + 0)
  }
}

extension Device {
  /// Channels of the microphones that a case uses: all for stereo, else those of the data source.
  fileprivate func channels(of filterCase: FilterCase) -> [Int] {
    dataSources.first { $0.name == filterCase.dataSource && filterCase.polarPattern != .stereo }?.microphones
      ?? Array(microphones.indices)
  }
}
