import Acoustics
import Manifolds

/// Checks from a recording of ordinary sound whether an array is healthy and wired as its device file says.
///
/// Thread: any; the calling thread computes, and calls `progress`.
public enum ArrayCheck {
  /// - Parameters:
  ///   - signals: shape `[microphone][frame]`, full scale is 1.
  ///   - progress: called with the solved fraction of a box, 0…1.
  /// - Throws: `ArrayCheckError` if the recording does not fit the device, or the device has no manifold.
  public static func verdict(
    on signals: [[Float]], of device: Device, sampleRate: Int,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(ArrayCheckError) -> ArrayVerdict {
    let signals = try checked(signals, device, sampleRate)
    let wording = Wording(names: device.microphones.map(\.name))
    let health = ArrayHealth(signals, sampleRate: sampleRate)
    let wiring = try wiring(signals, device, health, sampleRate, progress)
    let findings = health.findings(wording) + (wiring?.findings(wording, sampleRate: sampleRate) ?? [])
    let notes = wiring?.notes(wording) ?? [obstacle(health)]
    let seconds = signals[0].count / sampleRate
    return ArrayVerdict(
      device: device, levels: health.channels.map(\.level), deviations: wiring?.deviations ?? [:],
      findings: Finding.Kind.allCases.flatMap { kind in findings.filter { $0.kind == kind } },
      notJudged: notes + (seconds < Thresholds.shortRecording ? [Wording.short(seconds: seconds)] : []),
      order: wiring?.orderEvidence(),
      isJudged: device.microphones.count < 2 ? !health.isQuiet : wiring?.order != nil)
  }

  /// Nil where the wiring cannot be judged.
  private static func wiring(
    _ signals: [[Float]], _ device: Device, _ health: ArrayHealth, _ sampleRate: Int,
    _ progress: (@Sendable (Double) -> Void)?
  ) throws(ArrayCheckError) -> WiringEvidence? {
    guard !health.isQuiet, health.comparable.count > 1 else { return nil }
    let manifold = try manifold(of: device, progress)
    let known = device.deviations
    let undone = health.comparable.map { m in
      let (factor, offset) = (Float(1 / known[m].factor), Float(health.channels[m].offset))
      return signals[m].map { factor * ($0 - offset) }
    }
    return WiringEvidence(
      device, manifold: manifold, subset: health.comparable, signals: undone, sampleRate: sampleRate)
  }

  /// Why the wiring cannot be judged.
  private static func obstacle(_ health: ArrayHealth) -> String {
    if health.isQuiet { return Wording.tooQuiet(health.reference) }
    return health.channels.count < 2 ? Wording.single : Wording.fewLeft
  }

  static func manifold(of device: Device, _ progress: (@Sendable (Double) -> Void)?) throws(ArrayCheckError)
    -> any ArrayManifold
  {
    do { return try Manifolds.manifold(for: device, progress: progress) } catch {
      throw ArrayCheckError(error.description)
    }
  }

  /// - Returns: the beginning of a long recording, with zeros for invalid samples.
  static func checked(_ signals: [[Float]], _ device: Device, _ sampleRate: Int) throws(ArrayCheckError)
    -> [[Float]]
  {
    guard signals.count == device.microphones.count else {
      throw .channels(signals.count, of: device)
    }
    guard Thresholds.sampleRates.contains(sampleRate) else { throw .sampleRate(sampleRate) }
    guard signals[0].count >= Thresholds.leastDuration * sampleRate else { throw .tooShort }
    let limit = min(signals[0].count, Thresholds.mostDuration * sampleRate)
    return signals.map { $0.prefix(limit).map { $0.isFinite ? $0 : 0 } }
  }
}
