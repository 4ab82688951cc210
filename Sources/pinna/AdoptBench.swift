import Foundation
import Realtime

/// Times the callbacks after a change of period: the engine has run with another period, the control side prepares for
/// the new one, and the callback adopts the new convolver.
struct AdoptBench {
  let shape: Partitioning
  let otherPeriod: Int
  /// Median time of a steady period, in microseconds.
  let steady: Double
  /// Longest of the callbacks from the change on, in microseconds; of each, the lowest time of all rounds counts.
  let longest: Double
  /// Silent callbacks from the change on.
  let silent: Int
  let deadline: Double

  /// Whether the goal is reached: at most twice a steady period, and half of the deadline where a steady period takes a
  /// quarter of it at most.
  var isBounded: Bool { longest <= 2 * steady && (steady > deadline / 4 || longest < deadline / 2) }

  init(_ shape: Partitioning, _ instructionSet: InstructionSet, _ caches: ProcessorCaches, rounds: Int) {
    self.shape = shape
    otherPeriod = shape.period >= 1024 ? shape.period / 4 : shape.period * 4
    let bench = EngineBench(shape, instructionSet, otherPeriod: otherPeriod, caches: caches)
    deadline = bench.deadline
    // As many as the filters have partitions, and those in which a voice changes over to pairs.
    let callbacks = (shape.taps + shape.period - 1) / shape.period + 32
    var lowest = [Double](repeating: .infinity, count: callbacks)
    var steadyTimes: [Double] = []
    var silent = 0
    for _ in 0..<rounds {
      bench.engine.prepare(period: otherPeriod)
      for _ in 0..<(2 * shape.taps / otherPeriod + 16) { _ = bench.timeOnePeriod(frames: otherPeriod) }
      bench.engine.prepare(period: shape.period)
      let before = bench.engine.statistics.unpreparedPeriods
      for n in 0..<callbacks { lowest[n] = min(lowest[n], bench.timeOnePeriod()) }
      silent = max(silent, bench.engine.statistics.unpreparedPeriods - before)
      for _ in 0..<64 { steadyTimes.append(bench.timeOnePeriod()) }
      _ = bench.engine.drainReports()
    }
    steady = Percentiles(steadyTimes).p50
    longest = lowest.max()!
    self.silent = silent
  }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "otherPeriod": otherPeriod, "steadyMicroseconds": steady, "longestMicroseconds": longest,
      "silentPeriods": silent, "deadlineMicroseconds": deadline, "bounded": isBounded,
    ]
  }

  static func table(_ results: [AdoptBench]) -> String {
    let head =
      "microphones  taps  period  from period  steady (µs)  longest after the change (µs)"
      + "  longest/steady  of the deadline  silent periods"
    let rows = results.map {
      String(
        format: "%11d %5d %7d %12d %12.2f %30.2f %15.2f %14.1f %% %15d%@",
        $0.shape.microphones, $0.shape.taps, $0.shape.period, $0.otherPeriod, $0.steady, $0.longest,
        $0.longest / $0.steady,
        100 * $0.longest / $0.deadline, $0.silent, $0.isBounded ? "" : "  MISSED")
    }
    let missed = results.count { !$0.isBounded }
    return ([head] + rows + ["\(results.count - missed) of \(results.count) within the goal"])
      .joined(separator: "\n")
  }
}
