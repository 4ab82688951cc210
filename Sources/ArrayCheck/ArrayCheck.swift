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
    let found = health.findings(wording) + (wiring?.findings(wording, sampleRate: sampleRate) ?? [])
    let findings = Finding.Kind.allCases.flatMap { kind in found.filter { $0.kind == kind } }
    let notes = wiring?.notes(wording) ?? [obstacle(health)]
    let seconds = signals[0].count / sampleRate
    let microphones = device.microphones.indices.map { m in
      let own = findings.filter { $0.microphones.contains(m) }
      return MicrophoneVerdict(
        name: device.microphones[m].name, level: health.channels[m].level, deviation: wiring?.deviations[m],
        verdict: Wording.verdict(on: m, own), remedy: own.first?.remedy)
    }
    return ArrayVerdict(
      device: device, microphones: microphones, findings: findings,
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
    let undone = undone(signals, device)
    return WiringEvidence(
      WiringInputs(
        device, manifold: manifold, subset: health.comparable,
        signals: health.comparable.map { undone[$0] }, sampleRate: sampleRate))
  }

  /// Why the wiring cannot be judged.
  private static func obstacle(_ health: ArrayHealth) -> String {
    if health.isQuiet { return Wording.tooQuiet(health.reference) }
    return health.channels.count < 2 ? Wording.single : Wording.fewLeft
  }

  /// The signals without offsets, and without the gains and polarities that the device states or that were found.
  static func undone(_ signals: [[Float]], _ device: Device, inverted: [Int] = []) -> [[Float]] {
    let known = device.deviations
    return signals.indices.map { m in
      let offset = Float(ChannelHealth.mean(signals[m]))
      let factor = Float((inverted.contains(m) ? -1 : 1) / known[m].factor)
      return signals[m].map { factor * ($0 - offset) }
    }
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
