import Acoustics
import Synchronization

/// Acoustic figures of every case of a preset's device: what `pinna report` prints.
public struct Report: Codable, Hashable, Sendable {
  public let preset: String
  public let sampleRate: Int
  /// Those with filters in the order of the bank, then those that are not offered.
  public let cases: [CaseFigures]

  /// Reads all figures of `bank`, and what they lose by the array's errors, on all cores.
  ///
  /// Boxes are solved anew with finer panels than a design's, and no direction is one of a design's.
  /// - Parameters:
  ///   - device: whose filters they are.
  ///   - preset: a name for the report to bear.
  ///   - progress: called with what part is done, 0…1, from any thread, one call at a time.
  public init(
    bank: FilterBank, device: Device, preset: String,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) {
    progress?(0)
    let manifold = try referenceManifold(for: device) { progress?(Self.solvingPart * $0) }
    try self.init(
      bank: bank, device: device, preset: preset, manifold: manifold, draws: ArrayErrors.drawCount
    ) { part in
      progress?(Self.solvingPart + (1 - Self.solvingPart) * part)
    }
  }

  /// What part of the work the manifold is.
  private static let solvingPart = 0.5

  /// - Parameters:
  ///   - manifold: of the device, and not the design's.
  ///   - draws: of the array's errors, behind the losses.
  package init(
    bank: FilterBank, device: Device, preset: String, manifold: any ArrayManifold,
    draws: Int, progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) {
    guard bank.microphones == device.microphones.map(\.name) else {
      throw DesignError("the filters of \(bank.device) do not belong to \(device.name); design them again")
    }
    var cases: [(view: CaseView, taps: [[[Float]]])] = []
    for coefficients in bank.cases {
      guard let view = device.view(of: coefficients.filterCase) else {
        throw DesignError(
          "\(device.name) has no case \(coefficients.filterCase.title), which \(bank.device) has filters for; "
            + "design them again")
      }
      cases.append((view, coefficients.taps))
    }
    let isStereo = bank.cases.contains { $0.filterCase.polarPattern == .stereo }
    let field = try MeasuringField(
      manifold: manifold, views: cases.map(\.view),
      frequencies: DesignGrid(sampleRate: bank.sampleRate).frequencies)
    let reader = try FigureReader(
      cases, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames, field: field,
      hrtf: isStereo ? try HRTF(path: device.hrtf ?? HRTF.defaultPath) : nil)
    // The first is the array as described.
    let readings = Mutex([[Figures]](repeating: [], count: 1 + draws))
    try DesignThreads.forEach(1 + draws) { i throws(DesignError) in
      let errors =
        i == 0 ? nil : ArrayErrors(microphones: device.microphones.count, seed: UInt64(i))
      let figures = try reader.read(errors: errors).map(\.figures)
      readings.withLock { readings in
        readings[i] = figures
        progress?(Double(readings.count { !$0.isEmpty }) / Double(readings.count))
      }
    }
    let all = readings.withLock { $0 }
    let ceiling = try EnergyCeiling(manifold: manifold, highestFrequency: field.frequencies.last!)
    func ceilings(_ filterCase: FilterCase) throws(DesignError) -> [Int: Double]? {
      guard case .ears(let frame) = device.view(of: filterCase) else { return nil }
      return try ceiling.separation(frame)
    }
    self.preset = preset
    sampleRate = bank.sampleRate
    self.cases =
      try bank.cases.enumerated().map { i, coefficients throws(DesignError) in
        var figures = all[0][i]
        let losses = FigureTable(of: figures, draws: all.dropFirst().map { $0[i] })
        figures.octaves[.separationCeiling] = try ceilings(coefficients.filterCase)
        return CaseFigures(
          filterCase: coefficients.filterCase, figures: figures, losses: losses, bank: bank, reason: nil)
      }
      + bank.refusals.map { refusal throws(DesignError) in
        var figures = Figures()
        figures.octaves[.separationCeiling] = try ceilings(refusal.filterCase)
        return CaseFigures(
          filterCase: refusal.filterCase, figures: figures, losses: nil, bank: bank, reason: refusal.reason)
      }
  }
}

extension FilterCase {
  /// "Back stereo in landscapeLeft"
  var title: String {
    "\(dataSource) \(polarPattern.rawValue)" + (inputOrientation.map { " in \($0.rawValue)" } ?? "")
  }
}
