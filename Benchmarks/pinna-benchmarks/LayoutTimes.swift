import Foundation
import Realtime

/// All layouts of one configuration, measured in turn, beside what the model expects of each.
struct LayoutTimes {
  struct Row {
    let layout: ConvolverLayout
    let cost: ConvolverLayout.Cost
    let microseconds: Double
  }

  let shape: Partitioning
  let rows: [Row]
  /// Index of the layout that the model chooses, and of the fastest.
  let chosen, fastest: Int
  /// How much longer the chosen one takes than the fastest.
  var ratio: Double { rows[chosen].microseconds / rows[fastest].microseconds }

  init(_ shape: Partitioning, _ set: InstructionSet, _ caches: ProcessorCaches, rounds: Int = 8) {
    self.shape = shape
    let layouts = EngineTimes(shape, set).engine.layouts(period: shape.period)
    let benches = layouts.indices.map { EngineTimes(shape, set, layout: $0) }
    for _ in 0..<rounds { for bench in benches { bench.measureSteady(periods: 256) } }
    let rows = zip(layouts, benches).map {
      Row(layout: $0, cost: $0.cost(caches), microseconds: $1.meanOfPhases)
    }
    self.rows = rows
    chosen = rows.indices.min { rows[$0].cost.time < rows[$1].cost.time }!
    fastest = rows.indices.min { rows[$0].microseconds < rows[$1].microseconds }!
  }

  static func table(_ results: [LayoutTimes]) -> String {
    let head =
      "microphones  taps  period  lanes hold   block  products  transforms  of the tail  streamed (kB)  from memory (kB)  model (µs)  measured (µs)"
    let lines = results.flatMap { result in
      result.rows.enumerated().map { n, row in
        String(
          format: "%11d %5d %7d  %2d %@ %5d %9.0f %11.0f %12.0f %14.0f %17.0f %11.2f %14.2f%@%@",
          result.shape.microphones,
          result.shape.taps, result.shape.period, row.layout.lanes,
          row.layout.lanesAreMicrophones ? "mics    " : "bins    ", row.layout.block, row.cost.products,
          row.cost.transforms, row.cost.tailTransforms, row.cost.streamedBytes / 1000,
          row.cost.memoryBytes / 1000, row.cost.time, row.microseconds,
          n == result.chosen ? "  chosen" : "", n == result.fastest ? "  fastest" : "")
      }
    }
    let close = results.count { $0.ratio <= 1.1 }
    return
      ([head] + lines + ["the model's choice is within 10 % of the fastest in \(close) of \(results.count)"])
      .joined(separator: "\n")
  }
}
