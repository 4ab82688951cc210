import AudioFiles
import JackClient
import JackTools
import Messages
import Realtime

/// What can be measured.
enum Command: String, CaseIterable {
  case periods, scale, layouts, engines, live, plugin, adapt
  case periodChanges = "period-changes"

  private var summary: String {
    switch self {
    case .periods: "time per period, steady and crossfading, of one configuration or of the usual ones"
    case .scale: "time and memory from 1 to 64 microphones, 64 to 8192 taps, periods of 16 to 4096"
    case .layouts: "all layouts of the convolver, beside what the model expects of each"
    case .engines: "how many engines one core runs in real time"
    case .live: "the callback on a private server, alternating with an idle client"
    case .adapt: "periods with filters that follow the sound beside periods of the linear engine, in turn"
    case .plugin: "a block of the plug-in beside a period of the engine, in turn"
    case .periodChanges: "the longest callback after a change of period; status 1 where a goal is missed"
    }
  }

  private static let shape = ["--microphones", "--taps", "--period"]

  var options: [String] {
    switch self {
    case .periods: Self.shape + ["--periods", "--isa", "--l2", "--compare", "--json"]
    case .scale: ["--periods", "--isa", "--l2", "--compare", "--plot", "--json"]
    case .layouts: Self.shape + ["--isa", "--l2"]
    case .engines: Self.shape + ["--isa", "--json"]
    case .live: Self.shape + ["--periods", "--isa", "--json"]
    case .adapt: Self.shape + ["--periods", "--json"]
    case .plugin: Self.shape + ["--periods", "--json"]
    case .periodChanges: Self.shape + ["--isa", "--l2", "--json"]
    }
  }

  static var overview: String {
    let commands = allCases.map {
      "  " + $0.rawValue.padding(toLength: 16, withPad: " ", startingAt: 0)
        + $0.summary + "\n                  " + $0.options.joined(separator: " ")
    }
    return """
      Measures Pinna's engine.

      usage: pinna-benchmarks BENCHMARK [options]

      \(commands.joined(separator: "\n"))

      --microphones N --taps N --period FRAMES  one configuration (default: 1024 taps, period 64)
      --periods N       periods to measure
      --isa SET         baseline, v3 or v4 (default: the fastest; periods measures all)
      --l2 SIZE         lay out for a second-level cache of this size, such as 512K (default: this processor's)
      --compare FILE    say how many times as fast as in FILE, which --json wrote
      --plot FILE       draw the part of a core over the period (.svg or .png)
      """
  }

  /// Measures, and prints the result.
  /// - Returns: false if a goal was missed.
  func run(_ options: Options) throws -> Bool {
    let (shape, set, caches) = (try options.shape(), try options.instructionSet(), try options.caches())
    switch self {
    case .periods:
      let sets = options["--isa"] == nil ? InstructionSet.available : [set]
      try Self.measure(
        shape.map { [$0] } ?? EngineTimes.usual, sets, periods: 4000, options, table: EngineTimes.table)
    case .scale:
      try Self.measure(Scale.shapes, [set], periods: 200, options, table: Scale.table)
    case .layouts:
      print(LayoutTimes.table((shape.map { [$0] } ?? Scale.shapes).map { LayoutTimes($0, set, caches) }))
    case .engines:
      let counts = (shape.map { [$0] } ?? EngineTimes.usual).map { ($0, Scale.engines($0, set)) }
      Self.show(counts.map { Scale.json($0, $1, set) }, options, table: Scale.table(counts))
    case .live:
      try JackLibrary.useJACK2()
      let times = try LiveTimes(shape ?? LiveTimes.usual, set, periods: try options.periods() ?? 100_000)
      print(options.isJSON ? times.json.text : times.table)
      return times.isWithinLimit
    case .adapt:
      let rounds = try options.periods() ?? 20_000
      let results = (shape.map { [$0] } ?? AdaptationTimes.usual).map {
        AdaptationTimes($0, rounds: rounds)
      }
      Self.show(results.map(\.json), options, table: AdaptationTimes.table(results))
    case .plugin:
      let rounds = try options.periods() ?? 20_000
      let results = (shape.map { [$0] } ?? EngineTimes.usual).map {
        PluginTimes($0, rounds: rounds)
      }
      Self.show(results.map(\.json), options, table: PluginTimes.table(results))
    case .periodChanges:
      let results = (shape.map { [$0] } ?? Scale.shapes).map {
        PeriodChangeTimes($0, set, caches, rounds: 10)
      }
      Self.show(results.map(\.json), options, table: PeriodChangeTimes.table(results))
      return results.allSatisfy(\.isBounded)
    }
    return true
  }

  /// Measures engines of each shape with each instruction set, and prints a table, a comparison or JSON.
  /// - Parameter periods: how many are measured, unless --periods says it.
  private static func measure(
    _ shapes: [Partitioning], _ sets: [InstructionSet], periods: Int, _ options: Options,
    table: ([EngineTimes]) -> String
  ) throws {
    let (comparison, caches) = (
      try options["--compare"].map { try RunComparison(path: $0) }, try options.caches()
    )
    let periods = try options.periods() ?? periods
    let results = shapes.flatMap { shape in
      sets.map { set in
        let times = EngineTimes(shape, set, caches: caches)
        times.measure(periods: periods)
        return times
      }
    }
    if let path = options["--plot"] { try Scale.plot(results).write(OutputFile(path, replacing: true)) }
    show(results.map(\.json), options, table: try comparison?.table(results) ?? table(results))
    if !options.isJSON { print(EngineTimes.sentence(results)) }
  }

  private static func show(_ configurations: [JSONObject], _ options: Options, table: String) {
    let object: JSONObject = ["machine": Machine.current, "configurations": configurations]
    print(options.isJSON ? object.text : table)
  }
}
