import Control
import Foundation
import JackClient
import Realtime

extension Verb {
  static let bench = Verb(
    name: "bench", summary: "measure the engine's time per period on this machine, against the deadline",
    options: [
      Option("--microphones", "N", "measure one configuration instead of the usual ones"),
      Option("--taps", "N", "its filter length (default: 1024)"),
      Option("--period", "FRAMES", "its period (default: 64)"),
      Option("--periods", "N", "periods to measure (default: 4000)"),
      Option(
        "--scale", nil, "time and memory from 1 to 64 microphones, 64 to 8192 taps, periods of 16 to 4096"),
      Option("--engines", nil, "how many engines one core runs in real time"),
      Option("--live", nil, "time the callback on a private server, alternating with an idle client"),
      Option(
        "--isa", "SET",
        "baseline, v3 or v4 (default: all that this processor supports; the fastest with the three above)"),
      jsonOption,
    ]
  ) { arguments in
    try refuseCombinations(arguments)
    let periods = try arguments.integer("--periods", in: 100...10_000_000)
    var shapes = EngineBench.usual
    if let microphones = try arguments.integer("--microphones", in: 1...Partitioning.mostMicrophones) {
      shapes = [
        Partitioning(
          microphones: microphones, taps: try arguments.integer("--taps", in: 1...8192) ?? 1024,
          period: try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? 64)
      ]
    } else if arguments["--taps"] != nil || arguments["--period"] != nil {
      throw Failure(.usage, "--taps and --period belong to one configuration; give --microphones too")
    }
    let set = try arguments.instructionSet()
    flushDenormalsToZero()
    if arguments.has("--live") {
      try JackLibrary.useJACK2()
      let bench = try LiveBench(
        arguments["--microphones"] == nil ? LiveBench.usual : shapes[0], set, periods: periods ?? 100_000)
      print(arguments.isJSON ? bench.json.text : bench.table)
      return bench.isWithinLimit ? .done : .failed
    }
    if arguments.has("--engines") {
      let counts = shapes.map { ($0, ScaleBench.engines($0, set)) }
      print(
        arguments.isJSON
          ? (["configurations": counts.map { ScaleBench.json($0, $1, set) }] as JSONObject).text
          : ScaleBench.table(counts))
      return .done
    }
    let isScale = arguments.has("--scale")
    if isScale { shapes = ScaleBench.shapes }
    let sets = isScale || arguments["--isa"] != nil ? [set] : InstructionSet.available
    let results = shapes.flatMap { shape in
      sets.map { set in
        let bench = EngineBench(shape, set)
        bench.measure(periods: periods ?? (isScale ? 200 : 4000))
        return bench
      }
    }
    if isScale, !arguments.isJSON {
      print(ScaleBench.table(results))
    } else if arguments.isJSON {
      print((["configurations": results.map(\.json)] as JSONObject).text)
    } else {
      print(EngineBench.table(results))
    }
    return .done
  }
}

/// Refuses combinations of options of which one would be ignored.
private func refuseCombinations(_ arguments: Arguments) throws {
  let kinds = ["--scale", "--engines", "--live"].filter(arguments.has)
  if kinds.count > 1 {
    throw Failure(.usage, "\(kinds[0]) and \(kinds[1]) are separate benchmarks; run one after the other")
  }
  if kinds == ["--scale"], arguments["--microphones"] != nil {
    throw Failure(.usage, "--scale has its own configurations; leave out --microphones")
  }
  if kinds == ["--engines"], arguments["--periods"] != nil {
    throw Failure(.usage, "--engines chooses the number of periods itself; leave out --periods")
  }
}

extension EngineBench {
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

  static func table(_ results: [EngineBench]) -> String {
    let head =
      "microphones  taps  period       isa                  min     p50     p99   p99.9     max  deadline  (µs)"
    let rows = results.flatMap { result in
      [("steady", result.steady), ("crossfade", result.fading)].map { kind, t in
        let isa = result.instructionSet.rawValue
        return String(
          format: "%11d %5d %7d  ", result.shape.microphones, result.shape.taps, result.shape.period)
          + String(repeating: " ", count: 8 - isa.count) + isa + "  " + kind.padded(9)
          + String(
            format: " %7.2f %7.2f %7.2f %7.2f %7.1f %9.0f", t.min, t.p50, t.p99, t.p999, t.max,
            result.deadline)
      }
    }
    return ([head] + rows).joined(separator: "\n")
  }
}
