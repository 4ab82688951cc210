import Foundation
import JackClient
import Messages
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
      Option("--adopt", nil, "the longest callback after a change of period, for all of --scale"),
      Option("--layouts", nil, "all layouts of the convolver, beside what the model expects of each"),
      Option(
        "--l2", "SIZE",
        "lay out for a second-level cache of this size, such as 512K (default: this processor's)"),
      Option("--engines", nil, "how many engines one core runs in real time"),
      Option("--live", nil, "time the callback on a private server, alternating with an idle client"),
      Option(
        "--isa", "SET",
        "baseline, v3 or v4 (default: all that this processor supports; with --scale to --live the fastest)"),
      Option("--compare", "FILE", "say how many times as fast as in FILE, which bench --json wrote"),
      Option("--plot", "FILE", "draw --scale: the part of a core over the period (.svg or .png)"), jsonOption,
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
    var caches = ProcessorCaches.current
    if let text = arguments["--l2"] {
      guard let bytes = ProcessorCaches.size(text), bytes > 0 else {
        throw Failure(.usage, "--l2 takes a size such as 512K or 2M, not \(text)")
      }
      caches.secondLevel = bytes
    }
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
    if arguments.has("--adopt") {
      let results = (arguments["--microphones"] == nil ? ScaleBench.shapes : shapes).map {
        AdoptBench($0, set, caches, rounds: 10)
      }
      print(
        arguments.isJSON
          ? (["configurations": results.map(\.json)] as JSONObject).text : AdoptBench.table(results))
      return results.allSatisfy(\.isBounded) ? .done : .failed
    }
    if arguments.has("--layouts") {
      print(
        LayoutBench.table(
          (arguments["--microphones"] == nil ? ScaleBench.shapes : shapes).map {
            LayoutBench($0, set, caches)
          }))
      return .done
    }
    let comparison = try arguments["--compare"].map { path throws(Failure) in try BenchComparison(path: path)
    }
    let isScale = arguments.has("--scale")
    if isScale { shapes = ScaleBench.shapes }
    let sets = isScale || arguments["--isa"] != nil ? [set] : InstructionSet.available
    let results = shapes.flatMap { shape in
      sets.map { set in
        let bench = EngineBench(shape, set, caches: caches)
        bench.measure(periods: periods ?? (isScale ? 200 : 4000))
        return bench
      }
    }
    if let path = arguments["--plot"] { try drawn { try ScaleBench.plot(results).write(path) } }
    if arguments.isJSON {
      print(
        ([
          "machine": Machine.current, "version": Tool.version, "configurations": results.map(\.json),
        ] as JSONObject).text)
    } else if let comparison {
      print(try comparison.table(results))
    } else {
      print(isScale ? ScaleBench.table(results) : EngineBench.table(results))
    }
    if !arguments.isJSON { print(EngineBench.sentence(results)) }
    return .done
  }
}

/// Says why a picture could not be written.
private func drawn(_ write: () throws -> Void) throws(Failure) {
  do { try write() } catch { throw Failure(.failed, "\(error)") }
}

/// Refuses combinations of options of which one would be ignored.
private func refuseCombinations(_ arguments: Arguments) throws {
  let kinds = ["--scale", "--adopt", "--layouts", "--engines", "--live"].filter(arguments.has)
  if kinds.count > 1 {
    throw Failure(.usage, "\(kinds[0]) and \(kinds[1]) are separate benchmarks; run one after the other")
  }
  if arguments["--plot"] != nil, kinds != ["--scale"] {
    throw Failure(.usage, "--plot belongs to --scale")
  }
  if arguments["--compare"] != nil, let kind = kinds.first, kind != "--scale" {
    throw Failure(.usage, "--compare does not belong to \(kind)")
  }
  if arguments["--compare"] != nil, arguments.isJSON {
    throw Failure(.usage, "--compare prints a table; leave out --json")
  }
  if kinds == ["--scale"], arguments["--microphones"] != nil {
    throw Failure(.usage, "--scale has its own configurations; leave out --microphones")
  }
  if kinds == ["--layouts"], arguments.isJSON {
    throw Failure(.usage, "--layouts prints a table; leave out --json")
  }
  if let kind = kinds.first, ["--engines", "--live"].contains(kind), arguments["--l2"] != nil {
    throw Failure(.usage, "\(kind) uses the layout for this processor; leave out --l2")
  }
  if let kind = kinds.first, ["--engines", "--adopt", "--layouts"].contains(kind),
    arguments["--periods"] != nil
  {
    throw Failure(.usage, "\(kind) chooses the number of periods itself; leave out --periods")
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

  /// What this machine can do: "64 microphones × 1024 taps at 128 frames: 0.7 % of a core (v4, AMD EPYC …)", of the
  /// largest configuration.
  static func sentence(_ results: [EngineBench]) -> String {
    let largest = results.max {
      let (a, b) = ($0.shape, $1.shape)
      let (size, other) = (a.microphones * a.taps, b.microphones * b.taps)
      return size != other ? size < other : $0.steady.p50 / $0.deadline > $1.steady.p50 / $1.deadline
    }!
    let shape = largest.shape
    return "microphone".counted(shape.microphones) + " × " + "tap".counted(shape.taps) + " at "
      + "frame".counted(shape.period)
      + String(
        format: ": %.2g %% of a core (%@, %@)", 100 * largest.steady.p50 / largest.deadline,
        largest.instructionSet.rawValue, Machine.current.summary)
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
