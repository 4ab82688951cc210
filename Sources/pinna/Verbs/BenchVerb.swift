import Glibc
import Messages
import Presets
import Realtime
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
      jsonOption,
    ]
  ) { arguments in
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? 64
    let given = try arguments.integer("--microphones", in: 1...Partitioning.mostMicrophones)
    let taps = try arguments.integer("--taps", in: 1...8192)
    let shape: Partitioning
    if let given {
      guard arguments["--preset"] == nil else {
        throw Failure(
          .usage, "--preset and --microphones exclude each other: a preset has its microphones; give one")
      }
      shape = Partitioning(microphones: given, taps: taps ?? 1024, period: period)
    } else {
      guard taps == nil else {
        throw Failure(.usage, "--taps belongs to --microphones, because a preset has its filters; give both")
      }
      let device = try arguments.presetAndDevice(in: .standard).device
      shape = Partitioning(
        microphones: device.microphones.count, taps: device.design.grid.tapCount, period: period)
    }
    let outputs = try arguments.integer("--outputs", in: 2...Engine.mostFeedOutputs + 2) ?? 2
    let result = PeriodTime(shape, outputs: outputs, progress: WorkProgress.step("measuring periods"))
    arguments.print(json: result.json, text: result.sentence)
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
