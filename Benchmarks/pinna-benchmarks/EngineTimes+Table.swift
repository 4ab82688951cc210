import Foundation
import Messages
import Realtime

extension EngineTimes {
  static let usual = [
    (2, 512, 64), (4, 512, 64), (5, 256, 64), (8, 512, 128), (16, 1024, 64), (16, 1024, 128), (16, 4096, 64),
    (64, 1024, 128),
  ].map { Partitioning(microphones: $0.0, taps: $0.1, period: $0.2) }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "outputs": 2, "taps": shape.taps, "period": shape.period,
      "isa": instructionSet.rawValue, "microsecondsPerPeriod": steady,
      "crossfadeMicroseconds": fading, "deadlineMicroseconds": deadline,
      "maxOverMeanOfPhases": unevenness, "phaseMicroseconds": phases,
      "processorMicroseconds": processorMean, "megabytes": megabytes,
    ]
  }

  /// What this machine can do: "64 microphones × 1024 taps at 128 frames: 0.7 % of a core (v4, AMD EPYC …)", of the
  /// largest configuration.
  static func sentence(_ results: [EngineTimes]) -> String {
    let largest = results.max {
      let (a, b) = ($0.shape, $1.shape)
      let (size, other) = (a.microphones * a.taps, b.microphones * b.taps)
      return size != other ? size < other : $0.steady.p50 / $0.deadline > $1.steady.p50 / $1.deadline
    }!
    let shape = largest.shape
    return String(
      format: "%d microphones × %d taps at %d frames: %.2g %% of a core (%@, %@)", shape.microphones,
      shape.taps, shape.period, 100 * largest.steady.p50 / largest.deadline,
      largest.instructionSet.rawValue, Machine.current.summary)
  }

  static func table(_ results: [EngineTimes]) -> String {
    let head =
      "microphones  taps  period       isa                  min     p50     p99   p99.9     max  deadline  (µs)"
    let rows = results.flatMap { result in
      [("steady", result.steady), ("crossfade", result.fading)].map { kind, t in
        let isa = result.instructionSet.rawValue
        return String(
          format: "%11d %5d %7d  ", result.shape.microphones, result.shape.taps, result.shape.period)
          + String(repeating: " ", count: 8 - isa.count) + isa + "  "
          + (kind == "steady" ? "steady   " : kind)
          + String(
            format: " %7.2f %7.2f %7.2f %7.2f %7.1f %9.0f", t.min, t.p50, t.p99, t.p999, t.max,
            result.deadline)
      }
    }
    return ([head] + rows).joined(separator: "\n")
  }
}
