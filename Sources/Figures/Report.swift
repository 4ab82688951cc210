import Acoustics
import FilterDesign
import HeadResponses
import Manifolds
import Numerics
import Synchronization

/// The acoustic figures of all filter cases of a preset's device, as printed by `pinna report`.
public struct Report: Codable, Hashable, Sendable {
  public let preset: String
  public let sampleRate: Int
  /// Cases with filters, in the order of the bank, followed by cases that are not offered.
  public let cases: [CaseFigures]
  /// What the reader must know about all cases, such as the band of a measurement.
  public let remarks: [String]
  /// Where the positions of the microphones come from, and what the model leaves out; nil if the device file does not
  /// say.
  public let geometry: String?
  /// The day on which the array was calibrated: "2026-11-23"; nil if it was not.
  public let calibrated: String?

  /// Which cases the preset's feeds are, and which are not included, one sentence each; nil without feeds.
  public var feeds: [String]?

  /// Computes all figures of `bank` and their losses under array errors, on all cores.
  ///
  /// The figures do not reuse the design's model: boxes are solved on a finer mesh, and other directions are used.
  /// - Parameters:
  ///   - device: the device that `bank` was designed for.
  ///   - preset: the name of the preset, copied into the report.
  ///   - manifold: of the device; should be more accurate than the manifold of the design, as `referenceManifold` is.
  ///   - draws: number of random draws of the array errors.
  ///   - isCalibrated: whether the gains of the microphones were calibrated.
  ///   - progress: called with the completed fraction, 0…1, from any thread, one call at a time.
  /// - Throws: `DesignError` if `bank` does not belong to `device`, or its HRTF cannot be computed.
  package init(
    bank: FilterBank, device: Device, preset: String, manifold: any ArrayManifold,
    draws: Int = ArrayErrors.drawCount, isCalibrated: Bool = false,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) {
    guard bank.microphones == device.microphones.map(\.name) else {
      throw DesignError(
        "the filters of \(bank.device) were designed for other microphones than those of \(device.name); "
          + "design them again")
    }
    var cases: [(view: CaseView, taps: Taps<Float>)] = []
    for coefficients in bank.cases {
      guard let view = device.view(of: coefficients.filterCase, origin: coefficients.origin) else {
        throw DesignError(
          "the filters of \(bank.device) include \(coefficients.filterCase.title), which \(device.name) does not "
            + "have; design them again")
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
    // Index 0 is the array without errors.
    let readings = Mutex([[CaseReading]](repeating: [], count: 1 + draws))
    try DesignThreads.forEach(1 + draws) { i throws(DesignError) in
      let errors =
        i == 0
        ? nil
        : ArrayErrors(
          microphones: device.microphones.count, seed: UInt64(i), isCalibrated: isCalibrated)
      let found = try reader.read(errors: errors)
      readings.withLock { readings in
        readings[i] = found
        progress?(Double(readings.count { !$0.isEmpty }) / Double(readings.count))
      }
    }
    let all = readings.withLock { $0 }
    let ceiling = try EnergyCeiling(
      manifold: manifold, design: device.design, highestFrequency: field.frequencies.last!)
    func ceilings(_ filterCase: FilterCase) throws(DesignError) -> [Int: Double]? {
      guard case .ears(let frame) = device.view(of: filterCase) else { return nil }
      return try ceiling.separation(frame)
    }
    self.preset = preset
    remarks = bank.remarks + (device.calibration.map { [$0.remarkOnModel] } ?? [])
    geometry = device.geometry?.remark
    calibrated = device.calibration?.date
    sampleRate = bank.sampleRate
    self.cases =
      try bank.cases.enumerated().map { i, coefficients throws(DesignError) in
        var figures = all[0][i].figures
        let losses = FigureTable(of: figures, draws: all.dropFirst().map { $0[i].figures })
        figures.series[.separationCeiling] = try ceilings(coefficients.filterCase)
        return CaseFigures(
          filterCase: coefficients.filterCase, figures: figures, ambisonics: all[0][i].ambisonics,
          losses: losses, bank: bank, reason: nil,
          weakness: bank.weaknesses.first { $0.filterCase == coefficients.filterCase }?.text)
      }
      + bank.refusals.map { refusal throws(DesignError) in
        var figures = Figures()
        figures.series[.separationCeiling] = try ceilings(refusal.filterCase)
        return CaseFigures(
          filterCase: refusal.filterCase, figures: figures, losses: nil, bank: bank, reason: refusal.text)
      }
  }
}

extension FilterCase {
  /// "Back stereo in landscapeLeft"
  var title: String {
    "\(dataSource) \(polarPattern.rawValue)" + (inputOrientation.map { " in \($0.rawValue)" } ?? "")
  }
}
