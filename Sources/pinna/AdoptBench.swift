import Foundation
import Realtime

/// Times the callbacks after a change of period: the engine has run with another period, the control side prepares for
/// the new one, and the callback adopts the new convolver; at once, or after periods of the old length that the new
/// convolver has to make up for.
struct AdoptBench {
  let shape: Partitioning
  let otherPeriod: Int
  /// Median time of a steady period, in microseconds.
  let steady: Double
  /// After a change that takes place as soon as it is prepared.
  let prompt: Change
  /// After one that takes place one period later: one of the longer of the two.
  let late: Change
  let deadline: Double

  struct Change {
    /// Longest of the callbacks from the change on, in microseconds; of each, the lowest time of all rounds counts.
    let longest: Double
    /// Silent callbacks from the change on.
    let silent: Int
  }

  /// Whether the goal is reached: after a prompt change at most twice a steady period, and after both half of the deadline
  /// where a steady period takes a quarter of it at most. After a late change a callback computes two periods.
  var isBounded: Bool {
    prompt.longest <= 2 * steady
      && (steady > deadline / 4 || max(prompt.longest, late.longest) < deadline / 2)
  }

  init(_ shape: Partitioning, _ instructionSet: InstructionSet, _ caches: ProcessorCaches, rounds: Int) {
    self.shape = shape
    let otherPeriod = shape.period >= 1024 ? shape.period / 4 : shape.period * 4
    self.otherPeriod = otherPeriod
    let bench = EngineBench(shape, instructionSet, otherPeriod: otherPeriod, caches: caches)
    deadline = bench.deadline
    // As many as the filters have partitions, and those in which a voice changes over to pairs.
    let callbacks = (shape.taps + shape.period - 1) / shape.period + 32
    var steadyTimes: [Double] = []
    func change(afterPeriods late: Int) -> Change {
      var lowest = [Double](repeating: .infinity, count: callbacks)
      var silent = 0
      for _ in 0..<rounds {
        bench.engine.prepare(period: otherPeriod)
        for _ in 0..<(2 * shape.taps / otherPeriod + 16) { _ = bench.timeOnePeriod(frames: otherPeriod) }
        bench.engine.prepare(period: shape.period)
        for _ in 0..<late { _ = bench.timeOnePeriod(frames: otherPeriod) }
        let before = bench.engine.statistics.unpreparedPeriods
        for n in 0..<callbacks { lowest[n] = min(lowest[n], bench.timeOnePeriod()) }
        silent = max(silent, bench.engine.statistics.unpreparedPeriods - before)
        for _ in 0..<64 { steadyTimes.append(bench.timeOnePeriod()) }
        _ = bench.engine.drainReports()
      }
      return Change(longest: lowest.max()!, silent: silent)
    }
    prompt = change(afterPeriods: 0)
    late = change(afterPeriods: max(1, shape.period / otherPeriod))
    steady = Percentiles(steadyTimes).p50
  }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "otherPeriod": otherPeriod, "steadyMicroseconds": steady, "deadlineMicroseconds": deadline,
      "longestMicroseconds": prompt.longest, "silentPeriods": prompt.silent,
      "lateLongestMicroseconds": late.longest, "lateSilentPeriods": late.silent, "bounded": isBounded,
    ]
  }

  static func table(_ results: [AdoptBench]) -> String {
    let head =
      "                                                  prompt change                               late change\n"
      + "microphones  taps  period  from period  steady (µs)"
      + "  longest (µs)  of steady  of the deadline  silent"
      + "  longest (µs)  of steady  of the deadline  silent"
    let rows = results.map { result in
      let changes = [result.prompt, result.late].map { change in
        String(
          format: " %13.2f %10.2f %14.1f %% %7d", change.longest, change.longest / result.steady,
          100 * change.longest / result.deadline, change.silent)
      }
      return String(
        format: "%11d %5d %7d %12d %12.2f", result.shape.microphones, result.shape.taps, result.shape.period,
        result.otherPeriod, result.steady) + changes.joined() + (result.isBounded ? "" : "  MISSED")
    }
    let reached = results.count { $0.isBounded }
    return ([head] + rows + ["\(reached) of \(results.count) within the goal"]).joined(separator: "\n")
  }
}
