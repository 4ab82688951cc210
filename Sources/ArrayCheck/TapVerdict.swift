import Acoustics

/// What tapping on one microphone after another says about their order.
public struct TapVerdict: Sendable {
  public struct Microphone: Hashable, Sendable {
    public let name: String
    /// The microphone whose channel answered; nil if none did.
    public let answeredOn: String?
    /// By how much that channel was louder than any other, in dB.
    public let margin: Double?
    /// "in order", "swapped with line-2", "on the channel of line-3", or "no answer".
    public let verdict: String
  }

  public let device: Device
  /// One per microphone, in the device's order.
  public let microphones: [Microphone]
  public let findings: [Finding]

  /// Whether every microphone answered on its own channel.
  public var isWell: Bool { findings.isEmpty }

  /// - Parameter answers: one per microphone, in the device's order; nil where no channel answered.
  public init(of device: Device, answers: [TapAnswer?]) {
    precondition(answers.count == device.microphones.count, "one answer per microphone")
    let wording = Wording(names: device.microphones.map(\.name))
    let found = answers.indices.map { m in Self.finding(on: m, answers.map { $0?.channel }, wording) }
    self.device = device
    // Of two swapped microphones, the finding of the first one says it.
    findings = answers.indices.compactMap { m in found[m]?.microphones.min() == m ? found[m] : nil }
    microphones = answers.indices.map { m in
      Microphone(
        name: wording.names[m], answeredOn: answers[m].map { wording.names[$0.channel] },
        margin: answers[m]?.margin, verdict: found[m]?.verdict(on: m) ?? "in order")
    }
  }

  private static func finding(on m: Int, _ channels: [Int?], _ wording: Wording) -> Finding? {
    guard let channel = channels[m] else { return wording.unanswered(m) }
    if channel == m { return nil }
    return channels[channel] == m
      ? wording.swapped([(min(m, channel), max(m, channel))]) : wording.misplaced(m, on: channel)
  }
}
