import Foundation
import Messages
import Plots
import Realtime

extension Scale {
  /// How much of a core the engine takes, over the period: a panel per filter length, a curve per number of microphones.
  static func plot(_ results: [EngineTimes]) -> LinePlot {
    let colours: [Int: PlotColour] = [1: .blue, 4: .green, 16: .purple, 64: .orange]
    let panels = Set(results.map(\.shape.taps)).sorted().map { taps in
      let some = results.filter { $0.shape.taps == taps }
      let curves = Set(some.map(\.shape.microphones)).sorted(by: >).map { microphones in
        Curve(
          "\(microphones) microphones", colours[microphones] ?? .black,
          points: some.filter { $0.shape.microphones == microphones }.map {
            [log2(Double($0.shape.period)), 100 * $0.steady.p50 / $0.deadline]
          })
      }
      let values = curves.flatMap { $0.points.map(\.y) }
      return LinePlot.Panel(
        .linear("\(taps) taps: % of a core", fitting: values, minimumRange: 0...1, step: 1), curves: curves)
    }
    return LinePlot(
      PlotTitle("Pinna's engine on this machine", Machine.current.summary + "; 48 kHz"),
      horizontal: .linear("Period as a power of two: 4 is 16 frames, 12 is 4096", 4...12, step: 1),
      panels: panels)
  }
}
