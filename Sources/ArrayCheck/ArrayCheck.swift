import Acoustics
import Foundation
import Manifolds
import Numerics

/// Checks from a recording of ordinary sound whether an array is healthy and wired as its device file says.
///
/// Thread: any; the calling thread computes, and calls `progress`.
public enum ArrayCheck {
  /// In seconds. Shorter recordings are refused; of longer ones the beginning is used.
  public static let duration = 1.0...60.0
  /// In dBFS: below it, a recording has too little sound to judge anything but dead microphones.
  private static let quiet = -85.0

  /// - Parameters:
  ///   - signals: shape `[microphone][frame]`, full scale is 1.
  ///   - progress: called with the solved fraction of a box, 0…1.
  /// - Throws: `ArrayCheckError` if the recording does not fit the device, or the device has no manifold.
  public static func verdict(
    on signals: [[Float]], of device: Device, sampleRate: Int,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(ArrayCheckError) -> ArrayVerdict {
    let signals = try checked(signals, device, sampleRate)
    let names = device.microphones.map(\.name)
    let health = signals.map(SignalHealth.init)
    var findings: [Finding] = []
    var notes: [String] = []
    let dead = SignalHealth.dead(health)
    let reference = median(health.indices.filter { !dead.contains($0) }.compactMap { health[$0].level })
    for m in dead {
      let how =
        health[m].level.map { "is \(Int((reference - $0).rounded())) dB below the others" } ?? "is silent"
      findings.append(
        Finding(
          .dead, m, size: health[m].level.map { $0 - reference }, verdict: "dead",
          sentence: "\(names[m]) \(how)",
          remedy: "check its plug, its channel in the interface, and that it is not muted"))
    }
    for m in names.indices where !dead.contains(m) && health[m].isClipped {
      findings.append(
        Finding(
          .clipped, m, size: Double(health[m].clippedRuns), verdict: "clipped",
          sentence: "\(names[m]) clips, \(health[m].clippedRuns) times",
          remedy: "turn down the gain of the interface and record again"))
    }
    for m in names.indices where !dead.contains(m) && health[m].hasOffset {
      findings.append(
        Finding(
          .offset, m, size: health[m].offset, verdict: "DC offset",
          sentence:
            "\(names[m]) has a DC offset of \((1000 * health[m].offset).rounded() / 10) % of full scale",
          remedy: "check its cable and its supply; a high-pass removes the offset from what you record"))
    }
    for hum in Hum.found(signals, sampleRate: sampleRate) where !dead.contains(hum.microphone) {
      let excess = hum.excess > 60 ? "more than 60" : "\(Int(hum.excess.rounded()))"
      findings.append(
        Finding(
          .hum, hum.microphone, size: hum.excess, verdict: "hum",
          sentence: "\(names[hum.microphone]) hums at \(hum.mains) Hz, \(excess) dB more than the others",
          remedy: "check the shield of its cable, and keep it away from power supplies"))
    }
    let copies =
      reference > quiet ? Copies.found(signals).filter { !dead.contains($0.a) && !dead.contains($0.b) } : []
    for pair in copies {
      findings.append(
        Finding(
          .doubled, [pair.a, pair.b], size: pair.residual,
          verdicts: ["same as \(names[pair.b])", "same as \(names[pair.a])"],
          sentence: "\(names[pair.a]) and \(names[pair.b]) carry the same signal",
          remedy: "two ports are connected to one channel: give each microphone its own"))
    }
    let copied = Set(copies.flatMap { [$0.a, $0.b] })
    let subset = names.indices.filter { !dead.contains($0) && !copied.contains($0) }
    var deviations = [Double?](repeating: nil, count: names.count)
    var evidence: OrderEvidence?
    if reference <= quiet {
      notes.append(
        "It was too quiet (\(Int(reference.rounded())) dBFS) to judge levels, polarity and order: speak, or play music"
      )
    } else if subset.count < 2 {
      notes.append(
        device.microphones.count < 2
          ? "With one microphone there is nothing to compare"
          : "With fewer than two microphones left, levels, polarity and order were not judged: repair the others first"
      )
    } else {
      let manifold: any ArrayManifold
      do { manifold = try Manifolds.manifold(for: device, progress: progress) } catch {
        throw ArrayCheckError(error.description)
      }
      let known = device.deviations
      let undone = subset.map { m in
        let factor = Float(1 / known[m].factor)
        let offset = Float(health[m].offset)
        return signals[m].map { factor * ($0 - offset) }
      }
      let wiring = WiringEvidence(
        device, manifold: manifold, subset: subset, signals: undone, sampleRate: sampleRate,
        delays: subset.map { known[$0].delay })
      findings += wiring.findings(subset, names: names, sampleRate: sampleRate)
      findings += wiring.levelFindings(subset, device: device)
      notes += wiring.notes(subset, device: device)
      evidence = wiring.orderEvidence(subset)
      if wiring.canJudgeLevels(device) {
        for (channel, m) in subset.enumerated() { deviations[m] = wiring.levels.deviations[channel] }
      }
    }
    if signals[0].count < 3 * sampleRate {
      notes.append("The recording is short (\(signals[0].count / sampleRate) s): 10 s judge better")
    }
    let kinds = Finding.Kind.allCases
    findings.sort { kinds.firstIndex(of: $0.kind)! < kinds.firstIndex(of: $1.kind)! }
    let verdicts = names.indices.map { m in
      let own = findings.filter { $0.microphones.contains(m) }
      let words = own.map { $0.verdicts[$0.microphones.firstIndex(of: m)!] }
      return MicrophoneVerdict(
        name: names[m], level: health[m].level, deviation: deviations[m],
        verdict: words.isEmpty ? "well" : words.joined(separator: ", "), remedy: own.first?.remedy)
    }
    return ArrayVerdict(
      device: device, microphones: verdicts, findings: findings, notJudged: notes, order: evidence,
      isJudged: device.microphones.count < 2 ? reference > quiet : evidence != nil)
  }

  static func checked(_ signals: [[Float]], _ device: Device, _ sampleRate: Int) throws(ArrayCheckError)
    -> [[Float]]
  {
    guard signals.count == device.microphones.count else {
      throw ArrayCheckError(
        "the recording has \(signals.count) channels, but \(device.name) has \(device.microphones.count) microphones; "
          + "record one channel per microphone, in the order of the device file")
    }
    guard (8000...192_000).contains(sampleRate) else {
      throw ArrayCheckError("the recording is at \(sampleRate) Hz; record at 8000 to 192000 Hz")
    }
    let count = signals[0].count
    guard Double(count) >= duration.lowerBound * Double(sampleRate) else {
      throw ArrayCheckError("the recording is shorter than 1 s; record 10 s of speech or music")
    }
    let limit = min(count, Int(duration.upperBound) * sampleRate)
    return signals.map { $0.prefix(limit).map { $0.isFinite ? $0 : 0 } }
  }
}
