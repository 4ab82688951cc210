import Foundation
import Messages
import Realtime

/// How time and memory of the engine grow with microphones, taps and periods, and how many engines one core runs.
enum Scale {
  static let shapes = [1, 4, 16, 64].flatMap { microphones in
    [64, 512, 2048, 8192].flatMap { taps in
      [16, 64, 256, 1024, 4096].map { Partitioning(microphones: microphones, taps: taps, period: $0) }
    }
  }

  static func table(_ results: [EngineTimes]) -> String {
    let head =
      "microphones  taps  period     p50 (µs)  of the deadline  longest/mean phase  crossfade/steady  memory (MB, with one filter set)"
    return
      ([head]
      + results.map {
        String(
          format: "%11d %5d %7d %12.2f %14.2f %% %19.3f %17.2f %8.2f", $0.shape.microphones, $0.shape.taps,
          $0.shape.period, $0.steady.p50, 100 * $0.steady.p50 / $0.deadline, $0.unevenness,
          $0.fading.p50 / $0.steady.p50, $0.megabytes)
      }).joined(separator: "\n")
  }

  static func table(_ counts: [(Partitioning, Int)]) -> String {
    (["microphones  taps  period  engines that one core runs"]
      + counts.map { String(format: "%11d %5d %7d %8d", $0.microphones, $0.taps, $0.period, $1) })
      .joined(separator: "\n")
  }

  static func json(_ shape: Partitioning, _ engines: Int, _ set: InstructionSet) -> JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period, "isa": set.rawValue,
      "engines": engines,
    ]
  }

  /// Maximum number of engines of `shape` that one thread runs in each period, such that 99 of 100 rounds meet the
  /// deadline. At most 1024.
  static func engines(_ shape: Partitioning, _ set: InstructionSet) -> Int {
    var engines: [EngineTimes] = []
    func meetsDeadline(_ count: Int) -> Bool {
      while engines.count < count { engines.append(EngineTimes(shape, set)) }
      let rounds = (0..<220).map { _ in engines[..<count].reduce(0) { $0 + $1.timeOnePeriod() } }
      return Percentiles(Array(rounds.dropFirst(20))).p99 <= engines[0].deadline
    }
    var (most, tooMany) = (0, 1)
    while tooMany <= 1024, meetsDeadline(tooMany) { (most, tooMany) = (tooMany, 2 * tooMany) }
    // Bisection to within 3 %, which is finer than the difference between two runs.
    while tooMany <= 1024, tooMany - most > max(1, most / 32) {
      let middle = (most + tooMany) / 2
      if meetsDeadline(middle) { most = middle } else { tooMany = middle }
    }
    return most
  }
}
