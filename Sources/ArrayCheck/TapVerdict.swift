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
    let names = device.microphones.map(\.name)
    func swaps(_ m: Int, with other: Int) -> Bool { other != m && answers[other]?.channel == m }
    var findings: [Finding] = []
    microphones = names.indices.map { m in
      guard let answer = answers[m] else {
        findings.append(
          Finding(
            .dead, m, verdict: "no answer", sentence: "\(names[m]) did not answer",
            remedy: "tap again, closer and harder; if it stays silent, check its plug and its channel"))
        return Microphone(name: names[m], answeredOn: nil, margin: nil, verdict: "no answer")
      }
      let channel = answer.channel
      let verdict: String
      if channel == m {
        verdict = "in order"
      } else if swaps(m, with: channel) {
        verdict = "swapped with \(names[channel])"
        if m < channel {
          findings.append(
            Finding(
              .swapped, [m, channel],
              verdicts: ["swapped with \(names[channel])", "swapped with \(names[m])"],
              sentence: "\(names[m]) and \(names[channel]) are swapped",
              remedy: "exchange their connections, or their channels in the device file"))
        }
      } else {
        verdict = "on the channel of \(names[channel])"
        findings.append(
          Finding(
            .permuted, m, verdict: verdict, sentence: "\(names[m]) is on the channel of \(names[channel])",
            remedy: "connect it to its own channel, or correct the channels in the device file"))
      }
      return Microphone(name: names[m], answeredOn: names[channel], margin: answer.margin, verdict: verdict)
    }
    self.device = device
    self.findings = findings
  }
}
