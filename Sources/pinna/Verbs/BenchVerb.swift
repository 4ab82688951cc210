import Acoustics
import Adaptation
import Glibc
import Messages
import Presets
import Realtime
import Rendering
import Settings
import Text

extension Verb {
  static let bench = Verb(
    name: "bench", summary: "measure how much of each period the engine takes on this machine",
    options: [
      Option("--preset", "NAME", "measure what this preset's device takes (default: phone5)"),
      Option("--microphones", "N", "measure this many microphones instead"),
      Option("--taps", "N", "their filter length (default: 1024)"),
      Option("--period", "FRAMES", "the period (default: 64)"),
      Option("--outputs", "N", "the outputs of all feeds together, main's two included (default: 2)"),
      Option(
        "--following", nil, "measure also what following the sound takes: stereo, wind, talkers and room"),
      jsonOption,
    ]
  ) { arguments in
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? 64
    let given = try arguments.integer("--microphones", in: 1...Partitioning.mostMicrophones)
    let taps = try arguments.integer("--taps", in: 1...8192)
    let shape: Partitioning
    var followed: FollowingTime?
    if let given {
      guard arguments["--preset"] == nil else {
        throw Failure(
          .usage, "--preset and --microphones exclude each other: a preset has its microphones; give one")
      }
      guard !arguments.has("--following") else {
        throw Failure(
          .usage, "--following needs an array, and --microphones is only a number; give --preset instead")
      }
      shape = Partitioning(microphones: given, taps: taps ?? 1024, period: period)
    } else {
      guard taps == nil else {
        throw Failure(.usage, "--taps belongs to --microphones, because a preset has its filters; give both")
      }
      let (preset, device) = try arguments.presetAndDevice(in: .standard)
      if arguments.has("--following") { followed = try FollowingTime(preset.main, of: device) }
      shape = Partitioning(
        microphones: device.microphones.count, taps: device.design.grid.tapCount, period: period)
    }
    let outputs = try arguments.integer("--outputs", in: 2...Engine.mostFeedOutputs + 2) ?? 2
    let result = PeriodTime(shape, outputs: outputs, progress: WorkProgress.step("measuring periods"))
    arguments.print(
      json: followed.map { result.json + ["followingPercent": $0.percent] } ?? result.json,
      text: [result.sentence, followed?.sentence].compactMap(\.self).joined(separator: "\n"))
    return .done
  }
}

/// The median time that the engine takes for a period at 48 kHz, with filters of noise.
private struct PeriodTime {
  private static let sampleRate = 48_000.0
  private static let warmUp = 200
  private static let mostPeriods = 4000
  /// Long periods of many microphones are measured fewer times.
  private static let patience = Duration.seconds(2)

  let shape: Partitioning
  let outputs: Int
  let microseconds: Double
  /// The length of a period, which the callback shares with all other programs of the graph.
  var deadline: Double { 1e6 * Double(shape.period) / Self.sampleRate }

  /// - Parameter progress: called with the fraction of the measurement that is done, 0…1.
  init(_ shape: Partitioning, outputs count: Int, progress: (Double) -> Void) {
    self.shape = shape
    outputs = count
    flushDenormalsToZero()
    let engine = Engine(
      microphones: shape.microphones, taps: shape.taps, sampleRate: Self.sampleRate,
      instructionSet: .best)
    func noise(_ count: Int, _ peak: Float) -> [Float] { (0..<count).map { _ in .random(in: -peak...peak) } }
    func filters(_ outputs: Int) -> FilterSet {
      FilterSet(
        coefficients: (0..<outputs).map { _ in (0..<shape.microphones).map { _ in noise(shape.taps, 1e-3) } })
    }
    engine.start(with: filters(2))
    for first in stride(from: 0, to: count - 2, by: 16) {
      _ = engine.startFeed(with: filters(min(16, count - 2 - first)), firstOutput: first)
    }
    engine.prepare(period: shape.period)
    let sound = noise(shape.period, 0.5)
    var outputs = [Float](repeating: 0, count: count * shape.period)
    let times = sound.withUnsafeBufferPointer { sound in
      outputs.withUnsafeMutableBufferPointer { outputs in
        let inputs = [UnsafePointer<Float>?](repeating: sound.baseAddress!, count: shape.microphones)
        return inputs.withUnsafeBufferPointer { inputs in
          let left = outputs.baseAddress!
          let others = (2..<count).map { Optional(left + $0 * shape.period) }
          return others.withUnsafeBufferPointer { others in
            Self.times(progress) {
              engine.process(
                Period(
                  frames: shape.period, inputs: inputs.baseAddress!, left: left, right: left + shape.period,
                  feeds: others.baseAddress))
            }
          }
        }
      }
    }
    microseconds = times[times.count / 2]
  }

  /// The times of calls of `process` after the first ones, in microseconds, shortest first.
  private static func times(_ progress: (Double) -> Void, _ process: () -> Void) -> [Double] {
    let start = ContinuousClock.now
    var times: [Double] = []
    for n in 0..<warmUp + mostPeriods where n <= warmUp || .now - start < patience {
      // Between the measurements, not within one.
      if n % 50 == 0 {
        let byTime = min(Double(n) / Double(warmUp), (ContinuousClock.now - start) / patience)
        progress(max(Double(n) / Double(warmUp + mostPeriods), byTime))
      }
      let time = ContinuousClock().measure { process() }
      if n >= warmUp { times.append(time / .microseconds(1)) }
    }
    progress(1)
    return times.sorted()
  }

  /// "5 microphones × 256 taps take 0.63 µs of each period of 64 frames (1333 µs at 48000 Hz): 0.047 % of a core (v4,
  /// …)"
  var sentence: String {
    "microphone".counted(shape.microphones) + " × " + "tap".counted(shape.taps)
      + (outputs == 2 ? "" : " × \(outputs) outputs")
      + String(format: " take %.2f µs of each period of ", microseconds) + "frame".counted(shape.period)
      + String(
        format: " (%.0f µs at 48000 Hz): %.2g %% of a core ", deadline, 100 * microseconds / deadline)
      + "(\(InstructionSet.best.rawValue), \(Machine.current.summary))"
  }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "outputs": outputs, "microsecondsPerPeriod": microseconds, "deadlineMicroseconds": deadline,
      "isa": InstructionSet.best.rawValue, "machine": Machine.current, "version": Tool.version,
    ]
  }
}

/// What the worker takes beside the callback while one feed follows the sound in every way, at 48 kHz, with noise.
private struct FollowingTime {
  private static let (sampleRate, period, seconds) = (48_000, 256, 4)

  let load: AdaptationLoad
  var percent: Double { (1000 * load.total).rounded() / 10 }
  var sentence: String {
    String(
      format:
        "following the sound takes %.1f %% of a core beside it: %.1f to analyse it, %.1f for each such feed",
      percent, 100 * load.analysis, 100 * load.writing)
  }

  init(_ main: FeedSetting, of device: Device) throws {
    var feed = main.linear
    (feed.adaptation, feed.wind, feed.room) = (1, 1, Decibels(-12))
    let sets = try FilterSets(
      device: device, sampleRate: Self.sampleRate, progress: WorkProgress.designing(device.name))
    let engine = sets.makeEngine(adapts: true)
    guard let filters = try? sets.filters(for: feed.selection, of: device),
      let adaptive = AdaptiveFilters(engine),
      let target = try AdaptiveModel(device, sampleRate: Self.sampleRate).target(
        feed, whole: filters, delayFrames: sets.bank.delayFrames)
    else { throw Unsupported("\(device.name) has no filters that follow the sound") }
    engine.start(with: feed.base(of: filters))
    adaptive.start([0: target])
    let frames = Self.sampleRate * Self.seconds
    var run = OfflineRun(
      engine,
      microphones: (0..<engine.microphones).map { _ in (0..<frames).map { _ in .random(in: -0.1...0.1) } })
    run.afterPeriod = adaptive.work
    run.run(total: frames, period: Self.period)
    let seconds = Double(Self.seconds)
    load = AdaptationLoad(
      analysis: adaptive.seconds.analysis / seconds, writing: adaptive.seconds.writing / seconds)
  }
}
