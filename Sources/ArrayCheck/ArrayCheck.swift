import Acoustics
import Manifolds

/// Checks from a recording of ordinary sound whether an array is healthy and wired as its device file says.
///
/// Thread: any; the calling thread computes, and calls `progress`.
public enum ArrayCheck {
  /// - Parameters:
  ///   - channels: shape `[channel][frame]`, full scale is 1: one channel per microphone, or all channels of the
  ///     product.
  ///   - progress: called with the solved fraction of a box, 0…1.
  /// - Throws: `ArrayCheckError` if the recording does not fit the device, or the device has no manifold.
  public static func verdict(
    on channels: [[Float]], of device: Device, sampleRate: Int,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(ArrayCheckError) -> ArrayVerdict {
    let recording = try CheckedRecording(channels, of: device, sampleRate: sampleRate)
    if BFormat.isLikely(recording.signals, of: device, sampleRate: sampleRate) {
      return verdict(with: Wording(names: device.microphones.map(\.name)).bFormat(device.name), on: recording)
    }
    let shift = recording.shift
    if let shift, let offset = shift.offset { return verdict(on: recording, shifted: shift, by: offset) }
    var given = try judged(recording, progress)
    guard let shift else { return given }
    if let offset = try shift.offset(of: recording, against: given, progress) {
      return verdict(on: recording, shifted: shift, by: offset)
    }
    given.notJudged += shift.warning.map { [Wording.capitalised($0)] } ?? []
    return given
  }

  /// A verdict on channels that are no microphones, or not those of the device file: nothing else is judged.
  private static func verdict(with finding: Finding, on recording: CheckedRecording) -> ArrayVerdict {
    let signals = recording.signals
    let microphones = recording.device.microphones.enumerated().map { m, microphone in
      MicrophoneVerdict(
        name: microphone.name, level: ChannelHealth(signals[m]).level, deviation: nil,
        verdict: Wording.verdict(on: m, [finding]), remedy: finding.remedy)
    }
    return ArrayVerdict(
      device: recording.device, microphones: microphones, channels: recording.productChannels,
      findings: [finding], notJudged: [], order: nil, isJudged: true)
  }

  private static func verdict(on recording: CheckedRecording, shifted shift: CaptureShift, by offset: Int)
    -> ArrayVerdict
  {
    verdict(with: shift.finding(offset), on: CheckedRecording(recording, shiftedBy: offset))
  }

  /// The verdict on microphones that are where the device file says.
  static func judged(_ recording: CheckedRecording, _ progress: (@Sendable (Double) -> Void)?)
    throws(ArrayCheckError) -> ArrayVerdict
  {
    let (device, sampleRate, signals) = (recording.device, recording.sampleRate, recording.signals)
    let wording = Wording(names: device.microphones.map(\.name))
    let health = ArrayHealth(signals, sampleRate: sampleRate)
    let wiring = try wiring(signals, device, health, sampleRate, progress)
    let found =
      recording.findings(wording) + health.findings(wording)
      + (wiring?.findings(wording, sampleRate: sampleRate) ?? [])
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
      device: device, microphones: microphones, channels: recording.productChannels, findings: findings,
      notJudged: notes + (seconds < Thresholds.shortRecording ? [Wording.short(seconds: seconds)] : []),
      order: wiring?.orderEvidence(),
      isJudged: device.microphones.count < 2
        ? !health.isQuiet : wiring.map { $0.order != nil && !$0.polarity.isFarApart } ?? false)
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
}

extension CheckedRecording {
  /// Empty without a spare channel.
  fileprivate var productChannels: [ProductChannel] {
    guard channels.count > places.count else { return [] }
    return channels.indices.map { channel in
      ProductChannel(
        microphone: places.firstIndex(of: channel).map { device.microphones[$0].name },
        level: ChannelHealth(channels[channel]).level)
    }
  }

  /// Nil if only microphones carry sound.
  fileprivate var shift: CaptureShift? {
    channels.count == places.count
      ? nil : CaptureShift(levels: channels.map { ChannelHealth($0).level }, of: device)
  }

  fileprivate func findings(_ wording: Wording) -> [Finding] {
    invalid.indices.filter { invalid[$0].count > 0 }.map { m in
      wording.invalid(m, count: invalid[m].count, seconds: Double(invalid[m].first) / Double(sampleRate))
    }
  }
}

extension CaptureShift {
  /// What sound on channels without a microphone may hide: the capture is shifted, and loopback channels are not
  /// silent. Then the sound fits the device with all microphones elsewhere, and does not where they should be. Loopback
  /// channels that play the same sound are a pair of microphones there; the others may fit as well.
  /// - Returns: by how many channels; nil if it is not shifted.
  fileprivate func offset(
    of recording: CheckedRecording, against given: ArrayVerdict, _ progress: (@Sendable (Double) -> Void)?
  ) throws(ArrayCheckError) -> Int? {
    let faults: Set<Finding.Kind> = [.dead, .doubled, .inverted, .swapped, .permuted, .level, .late]
    func hasFaults(_ verdict: ArrayVerdict) -> Bool { verdict.findings.contains { faults.contains($0.kind) } }
    guard hasFaults(given) else { return nil }
    let gain = 1 + Thresholds.clearGain
    let isDoubled = given.findings.contains { $0.kind == .doubled }
    let least = (given.order?.fit ?? 0) * (isDoubled ? 1 / gain : gain)
    for offset in offsets {
      let other = try ArrayCheck.judged(CheckedRecording(recording, shiftedBy: offset), progress)
      guard !hasFaults(other), let fit = other.order?.fit else { continue }
      if fit > least { return offset }
    }
    return nil
  }
}
