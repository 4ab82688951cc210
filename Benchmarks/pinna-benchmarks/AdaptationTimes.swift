import Foundation
import Messages
import Realtime

/// What filters that follow the sound cost the callback, beside the linear engine: periods in turn, at 48 kHz.
final class AdaptationTimes {
  static let usual = [4, 5, 8].flatMap { microphones in
    [64, 128, 256, 1024].map { Partitioning(microphones: microphones, taps: 256, period: $0) }
  }

  /// Frames from set to set, as the worker delivers them at 48 kHz: two hops of 128. One per period where that is longer.
  private static let framesPerSet = 256

  let shape: Partitioning
  /// Medians in microseconds: without a stream, with one that nobody uses, with one that delivers sets.
  private(set) var linear = 0.0
  private(set) var unused = 0.0
  private(set) var adapting = 0.0
  /// Of one delivery, on the worker's side.
  private(set) var delivery = 0.0

  init(_ shape: Partitioning, rounds: Int) {
    self.shape = shape
    let engines = (0..<3).map { EngineTimes(shape, .best, adapts: $0 > 0) }
    var times = [[Double]](repeating: [], count: 4)
    let filters = (0..<2 * shape.microphones * shape.taps).map { _ in Float.random(in: -1e-3...1e-3) }
    let room = max(shape.period, 64)
    let memory = (0..<shape.microphones).map { _ in UnsafeMutablePointer<Float>.allocate(capacity: room) }
    defer { for block in memory { block.deallocate() } }
    let stream = engines[2].engine.stream!
    stream.start()
    for round in 0..<rounds + 200 {
      for n in (0..<3).map({ (round + $0) % 3 }) {
        if n == 2 {
          _ = stream.read(into: memory, atMost: room)
          if round % max(1, Self.framesPerSet / shape.period) == 0 {
            let time = engines[2].time {
              stream.deliver(base: engines[2].playingSet, coefficients: filters)
            }
            if round >= 200 { times[3].append(time) }
          }
        }
        let time = engines[n].timeOnePeriod()
        if round >= 200 { times[n].append(time) }
      }
    }
    (linear, unused) = (Percentiles(times[0]).p50, Percentiles(times[1]).p50)
    // The mean over periods with a fade and without one.
    adapting = times[2].sorted().dropLast(rounds / 20).reduce(0, +) / Double(rounds - rounds / 20)
    delivery = Percentiles(times[3]).p50
  }

  static func table(_ results: [AdaptationTimes]) -> String {
    let rows = results.map {
      String(
        format: "%11d %5d %7d %12.2f %7.3f %9.3f %14.1f", $0.shape.microphones, $0.shape.taps,
        $0.shape.period, $0.linear, $0.unused / $0.linear, $0.adapting / $0.linear, $0.delivery)
    }
    return (["microphones  taps  period  linear (µs)  unused  adapting  delivery (µs)"] + rows)
      .joined(separator: "\n")
  }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "linearMicroseconds": linear, "unusedRatio": unused / linear, "adaptingRatio": adapting / linear,
      "deliveryMicroseconds": delivery,
    ]
  }
}
