import Acoustics
import FilterDesign
import Numerics

extension FilterBank {
  /// The filters of `device` for as long as some of its microphones do not work, in the same layout as those of all
  /// microphones: the missing ones have filters of zeros. Shipped, cached or newly designed, as by `ready`.
  ///
  /// A case that the others cannot make has the filters of the next simpler pattern of its data source, and a remark in
  /// `weaknesses`. Stereo becomes omnidirectional.
  /// - Parameters:
  ///   - missing: names of microphones of `device`; at least one other is left.
  ///   - cancellation, progress: as for `ready`.
  /// - Throws: as `ready`.
  public static func fallback(
    for device: Device, without missing: Set<String>, sampleRate: Int,
    cancellation: DesignCancellation? = nil, progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) -> FilterBank {
    try ready(
      device: device.without(microphones: missing), sampleRate: sampleRate, cancellation: cancellation,
      progress: progress
    ).replacing(for: device)
  }

  /// These filters, of a device without some of the microphones of `device`, for all of `device`.
  package func replacing(for device: Device) -> FilterBank {
    let channels = device.microphones.map { microphones.firstIndex(of: $0.name) }
    var replaced: [CaseRemark] = []
    let all = device.filterCases.compactMap { wanted -> FilterCoefficients? in
      var found = cases.first { $0.filterCase == wanted }
      if found == nil {
        found = nextSimpler(than: wanted)
        let reason = refusals.first { $0.filterCase == wanted }?.text ?? "too few microphones are left"
        let text =
          found.map { "without the missing microphones it is \($0.filterCase.polarPattern.rawValue)" }
          ?? "it is not available without the missing microphones"
        replaced.append(CaseRemark(filterCase: wanted, text: "\(text): \(reason)"))
      }
      return found.map { found in
        var taps = Taps<Float>(outputs: found.taps.outputs, microphones: channels.count, length: tapCount)
        for (microphone, channel) in channels.enumerated() {
          guard let channel else { continue }
          for output in 0..<taps.outputs { taps[output, microphone] = found.taps[output, channel] }
        }
        return FilterCoefficients(filterCase: wanted, taps: taps, origin: found.origin)
      }
    }
    return FilterBank(
      device: device.name, sampleRate: sampleRate, microphones: device.microphones.map(\.name),
      delayFrames: delayFrames, tapCount: tapCount, cases: all, weaknesses: weaknesses + replaced,
      remarks: remarks)
  }

  /// The next simpler pattern of the data source of `wanted` that is offered.
  private func nextSimpler(than wanted: FilterCase) -> FilterCoefficients? {
    func part(_ filterCase: FilterCase) -> Double? {
      filterCase.dataSource == wanted.dataSource ? filterCase.polarPattern.omnidirectionalPart : nil
    }
    let own = part(wanted)
    // Stereo has no such part; only the omnidirectional pattern replaces it.
    func isSimpler(_ part: Double) -> Bool { own.map { part > $0 } ?? (part == 1) }
    return cases.filter { part($0.filterCase).map(isSimpler) ?? false }
      .min { part($0.filterCase)! < part($1.filterCase)! }
  }
}
