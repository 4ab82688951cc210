import Foundation
import Messages
import Realtime
import Settings

/// Times the callbacks after a change of period: the engine has run with another period, the control side prepares for
/// the new one, and the callback adopts the new convolver; at once, or after periods that the new convolver has to make up
/// for.
struct PeriodChangeTimes {
  let shape: Partitioning
  let otherPeriod: Int
  /// Median time of a steady period, in microseconds.
  let steady: Double
  /// After a change that takes place as soon as it is prepared.
  let prompt: Change
  /// After one that takes place one period later: one of the longer of the two.
  let late: Change
  /// After one that takes place half a new period later, so that the new convolver has to start over.
  let offGrid: Change
  /// Time in which the control side prepares for the change, in milliseconds, the lowest of all rounds.
  let prepared: Double
  let deadline: Double

  struct Change {
    /// Longest of the callbacks from the change on, in microseconds; of each, the lowest time of all rounds counts.
    let longest: Double
    /// Silent callbacks from the change on.
    let silent: Int
  }

  /// Whether the goal is reached: after a prompt change at most twice a steady period, and after all of them half of the
  /// deadline where a steady period takes a quarter of it at most. While it catches up, a callback computes two periods.
  var isBounded: Bool {
    prompt.longest <= 2 * steady
      && (steady > deadline / 4 || [prompt, late, offGrid].allSatisfy { $0.longest < deadline / 2 })
  }

  init(_ shape: Partitioning, _ instructionSet: InstructionSet, _ caches: ProcessorCaches, rounds: Int) {
    self.shape = shape
    let otherPeriod = shape.period >= 1024 ? shape.period / 4 : shape.period * 4
    self.otherPeriod = otherPeriod
    let bench = EngineTimes(shape, instructionSet, otherPeriod: otherPeriod, caches: caches)
    deadline = bench.deadline
    // As many as the filters have partitions, those of a tail's blocks, and those in which a voice changes over to pairs.
    let callbacks = (shape.taps + shape.period - 1) / shape.period + 96
    var steadyTimes: [Double] = []
    var prepared = Double.infinity
    func change(afterPeriods late: Int, of frames: Int) -> Change {
      var lowest = [Double](repeating: .infinity, count: callbacks)
      var silent = 0
      for _ in 0..<rounds {
        bench.engine.prepare(period: otherPeriod)
        for _ in 0..<(2 * shape.taps / otherPeriod + 16) { _ = bench.timeOnePeriod(frames: otherPeriod) }
        let start = ContinuousClock.now
        bench.engine.prepare(period: shape.period)
        prepared = min(prepared, (ContinuousClock.now - start) / .milliseconds(1))
        for _ in 0..<late { _ = bench.timeOnePeriod(frames: frames) }
        let before = bench.engine.statistics.unpreparedPeriods
        for n in 0..<callbacks { lowest[n] = min(lowest[n], bench.timeOnePeriod()) }
        silent = max(silent, bench.engine.statistics.unpreparedPeriods - before)
        for _ in 0..<64 { steadyTimes.append(bench.timeOnePeriod()) }
        _ = bench.engine.drainReports()
      }
      return Change(longest: lowest.max()!, silent: silent)
    }
    prompt = change(afterPeriods: 0, of: otherPeriod)
    late = change(afterPeriods: max(1, shape.period / otherPeriod), of: otherPeriod)
    offGrid = change(afterPeriods: 1, of: shape.period / 2)
    self.prepared = prepared
    steady = Percentiles(steadyTimes).p50
  }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "otherPeriod": otherPeriod, "steadyMicroseconds": steady, "deadlineMicroseconds": deadline,
      "longestMicroseconds": prompt.longest, "silentPeriods": prompt.silent,
      "lateLongestMicroseconds": late.longest, "lateSilentPeriods": late.silent,
      "offGridLongestMicroseconds": offGrid.longest, "offGridSilentPeriods": offGrid.silent,
      "prepareMilliseconds": prepared, "bounded": isBounded,
    ]
  }

  static func table(_ results: [PeriodChangeTimes]) -> String {
    let columns = "  longest (µs)  of steady  of the deadline  silent"
    func heading(_ words: String) -> String {
      "  " + words.padding(toLength: 49, withPad: " ", startingAt: 0)
    }
    let left = "microphones  taps  period  from period  steady (µs)  prepared in (ms)"
    let head =
      String(repeating: " ", count: left.count) + heading("prompt change") + heading("late change")
      + heading("change off the grid") + "\n" + left + columns + columns + columns
    let rows = results.map { result in
      let changes = [result.prompt, result.late, result.offGrid].map { change in
        String(
          format: " %13.2f %10.2f %14.1f %% %7d", change.longest, change.longest / result.steady,
          100 * change.longest / result.deadline, change.silent)
      }
      return String(
        format: "%11d %5d %7d %12d %12.2f %17.2f", result.shape.microphones, result.shape.taps,
        result.shape.period, result.otherPeriod, result.steady, result.prepared)
        + changes.joined() + (result.isBounded ? "" : "  MISSED")
    }
    let reached = results.count { $0.isBounded }
    return ([head] + rows + ["\(reached) of \(results.count) within the goal"]).joined(separator: "\n")
  }
}
