import Acoustics
import Figures
import Text

/// What is wrong or weak about B-format.
extension CaseJudgement {
  static func faults(_ figures: AmbisonicsFigures) -> [Fault] {
    func fails(_ channel: Int) -> Bool {
      figures.channels[channel].octaves.count < CaseCriteria.leastOctaves
    }
    var faults: [Fault] = []
    let (w, y, z, x) = (0, 1, 2, 3)
    let none = "; no order is offered"
    if fails(w) { faults.append(fault(.wrong, [figures.channels[w]], none)) }
    if fails(y), fails(x) { faults.append(fault(.wrong, [figures.channels[y], figures.channels[x]], none)) }
    for order in figures.orders.dropFirst(2) where order.octaves.count < CaseCriteria.leastOctaves {
      faults.append(
        Fault(
          verdict: .wrong,
          text: "order \(order.order) is like its spherical harmonics in only "
            + "octave".counted(order.octaves.count)
            + " from 125 Hz to 8 kHz, but \(CaseCriteria.leastOctaves) are required; "
            + (order.order == 2 ? "order 1 is" : "orders 1 to \(order.order - 1) are") + " offered"))
    }
    if figures.isHorizontal {
      faults.append(
        Fault(verdict: .weak, text: "it is horizontal only: Z is silence, because the array hears no height"))
    }
    let poor = [y, z, x].filter { fails($0) && !($0 == z && figures.isHorizontal) }.map {
      figures.channels[$0]
    }
    if !poor.isEmpty { faults.append(fault(.weak, poor)) }
    let noise = figures.channels.compactMap(\.noiseDB).max() ?? 0
    if noise > CaseCriteria.ambisonicsNoise.value {
      faults.append(
        Fault(
          verdict: .weak, text: String(format: "its filters raise the microphones' noise by %.1f dB", noise)))
    }
    return faults
  }

  private static func fault(
    _ verdict: CaseCriteria.Verdict, _ channels: [AmbisonicsFigures.Channel], _ offer: String = ""
  ) -> Fault {
    let list = channels.map { channel in
      channel.isSilent
        ? "\(channel.name) is silence"
        : "\(channel.name) is like its spherical harmonic in only \("octave".counted(channel.octaves.count))"
    }
    return Fault(
      verdict: verdict,
      text: list.joined(separator: " and ")
        + ", but \(CaseCriteria.leastOctaves) octaves from 125 Hz to 8 kHz "
        + (verdict == .wrong ? "are required" : "would be clear") + offer)
  }
}
