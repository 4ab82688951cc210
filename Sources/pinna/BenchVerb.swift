import Control
import Foundation
import Realtime

extension Verb {
  static let bench = Verb(
    name: "bench", summary: "time per period of the engine on this machine, against the deadline",
    options: [
      Option("--microphones", "N", "one configuration instead of the usual ones"),
      Option("--taps", "N", "its filter length (default: 1024)"),
      Option("--period", "FRAMES", "its period (default: 64)"),
      Option("--periods", "N", "periods to measure (default: 4000)"), jsonOption,
    ]
  ) { arguments in
    let periods = try arguments.integer("--periods", in: 100...10_000_000) ?? 4000
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
    flushDenormalsToZero()
    let results = shapes.map { EngineBench(shape: $0, periods: periods) }
    if arguments.isJSON {
      print(try document(["configurations": results.map(\.json)]))
    } else {
      print(EngineBench.table(results))
    }
    return .done
  }
}

/// Times of one configuration at 48 kHz: steady periods, then periods under a crossfade.
struct EngineBench {
  static let usual = [
    (4, 512, 64), (5, 256, 64), (8, 512, 128), (16, 1024, 64), (16, 1024, 128), (16, 4096, 64),
    (64, 1024, 128),
  ].map { Partitioning(microphones: $0.0, taps: $0.1, period: $0.2) }

  let shape: Partitioning
  let steady: Percentiles
  let crossfading: Percentiles
  private var deadline: Double { 1e6 * Double(shape.period) / 48000 }

  init(shape: Partitioning, periods: Int) {
    self.shape = shape
    let engine = Engine(microphones: shape.microphones, taps: shape.taps, sampleRate: 48000)
    var noise = SystemRandomNumberGenerator()
    func filters() -> FilterSet {
      FilterSet(
        coefficients: (0..<2).map { _ in
          (0..<shape.microphones).map { _ in
            (0..<shape.taps).map { _ in Float.random(in: -1e-3...1e-3, using: &noise) }
          }
        }, channels: 2)
    }
    let sets = [filters(), filters()]
    engine.start(with: sets[0])
    engine.prepare(period: shape.period)
    let source = (0..<shape.microphones * shape.period).map { _ in Float.random(in: -0.5...0.5, using: &noise)
    }
    var outputs = [Float](repeating: 0, count: 2 * shape.period)
    var steady: [Double] = []
    var crossfading: [Double] = []
    source.withUnsafeBufferPointer { input in
      let pointers = (0..<shape.microphones).map { Optional(input.baseAddress! + $0 * shape.period) }
      outputs.withUnsafeMutableBufferPointer { output in
        pointers.withUnsafeBufferPointer { inputs in
          func once() -> Double {
            let period = Period(
              frames: shape.period, inputs: inputs.baseAddress!, left: output.baseAddress!,
              right: output.baseAddress! + shape.period)
            let start = DispatchTime.now().uptimeNanoseconds
            engine.process(period)
            return Double(DispatchTime.now().uptimeNanoseconds - start) / 1000
          }
          for _ in 0..<200 { _ = once() }
          for _ in 0..<periods { steady.append(once()) }
          var next = 1
          while crossfading.count < periods {
            _ = try? engine.change(to: sets[next], gain: 1)
            next = 1 - next
            // Whole periods of a fade of 20 ms.
            for _ in 0..<max(1, 960 / shape.period) { crossfading.append(once()) }
            while engine.takeReports().isEmpty { _ = once() }
          }
        }
      }
    }
    self.steady = Percentiles(steady)
    self.crossfading = Percentiles(crossfading)
  }

  var json: [String: Any] {
    [
      "microphones": shape.microphones, "outputs": 2, "taps": shape.taps, "period": shape.period,
      "isa": "baseline", "microsecondsPerPeriod": steady.json, "crossfadeMicroseconds": crossfading.json,
      "deadlineMicroseconds": deadline,
    ]
  }

  static func table(_ results: [EngineBench]) -> String {
    let head =
      "microphones  taps  period     min     p50     p99   p99.9     max  crossfade p50  deadline  (µs)"
    let rows = results.map { result in
      let t = result.steady
      return String(
        format: "%11d %5d %7d %7.2f %7.2f %7.2f %7.2f %7.1f %14.2f %9.0f", result.shape.microphones,
        result.shape.taps, result.shape.period, t.min, t.p50, t.p99, t.p999, t.max, result.crossfading.p50,
        result.deadline)
    }
    return ([head] + rows).joined(separator: "\n")
  }
}

/// Order statistics of times in microseconds.
struct Percentiles {
  let min, p50, p99, p999, max: Double

  init(_ times: [Double]) {
    let sorted = times.sorted()
    func at(_ part: Double) -> Double {
      sorted[Swift.min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    min = sorted[0]
    p50 = at(0.5)
    p99 = at(0.99)
    p999 = at(0.999)
    max = sorted[sorted.count - 1]
  }

  var json: [String: Double] { ["min": min, "p50": p50, "p99": p99, "p999": p999, "max": max] }
}
