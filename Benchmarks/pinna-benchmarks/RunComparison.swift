import Foundation
import Messages
import Realtime
import Settings

/// Two runs of `periods` or `scale`, configuration by configuration: other machines, or other versions of Pinna.
struct RunComparison {
  /// What --json prints, as far as a comparison needs it.
  struct Run: Decodable {
    struct Configuration: Decodable {
      struct Times: Decodable { let min: Double }
      let microphones, taps, period: Int
      let isa: String
      let microsecondsPerPeriod: Times
    }
    /// Nil from a Pinna that did not write it.
    let machine: Machine?
    let configurations: [Configuration]
  }

  struct Row {
    let name: String
    let here, there: Double
    /// Above 1 where this run is faster.
    var ratio: Double { there / here }
  }

  private let path: String
  private let other: Run

  /// Reads the other run.
  /// - Throws: `Failure`, if `path` is not a file that --json wrote.
  init(path: String) throws(Failure) {
    guard let data = FileManager.default.contents(atPath: path),
      let other = try? JSONDecoder().decode(Run.self, from: data)
    else {
      throw Failure(.failed, "\(path) has no times; write it with: pinna-benchmarks periods --json > FILE")
    }
    self.path = path
    self.other = other
  }

  /// - Throws: `Failure`, if the two runs have no configuration in common.
  private func rows(_ results: [EngineTimes]) throws(Failure) -> [Row] {
    let rows: [Row] = results.compactMap { result in
      let shape = result.shape
      let match = other.configurations.first {
        $0.microphones == shape.microphones && $0.taps == shape.taps && $0.period == shape.period
          && $0.isa == result.instructionSet.rawValue && $0.microsecondsPerPeriod.min > 0
      }
      guard let match, result.steady.min > 0 else { return nil }
      return Row(
        name: String(format: "%11d %5d %7d  %8@", shape.microphones, shape.taps, shape.period, match.isa),
        here: result.steady.min, there: match.microsecondsPerPeriod.min)
    }
    guard !rows.isEmpty else {
      throw Failure(
        .failed,
        "\(path) has no configuration in common with this run; give the options that it was made with")
    }
    return rows
  }

  func table(_ results: [EngineTimes]) throws(Failure) -> String {
    let rows = try rows(results)
    let head = "microphones  taps  period       isa  here (µs)  there (µs)  times as fast"
    let lines = rows.map { $0.name + String(format: " %10.2f %11.2f %14.2f", $0.here, $0.there, $0.ratio) }
    let ratios = rows.map(\.ratio)
    let mean = exp(ratios.reduce(0) { $0 + log($1) } / Double(ratios.count))
    let source = path + (other.machine.map { " (\($0.summary))" } ?? "")
    return
      ([head] + lines + [
        String(
          format: "%.2f times as fast as %@, from %.2f to %.2f; lowest times, geometric mean of %@",
          mean, source, ratios.min()!, ratios.max()!, "\(rows.count) configurations")
      ]).joined(separator: "\n")
  }
}
