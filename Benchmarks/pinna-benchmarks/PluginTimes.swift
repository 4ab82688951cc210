import Foundation
import Messages
import Plugin
import Realtime

/// A block of the plug-in beside a period of the engine alone, in turn, at 48 kHz.
struct PluginTimes {
  private let shape: Partitioning
  /// Medians, in microseconds.
  private let plugin: Double
  private let engine: Double

  init(_ shape: Partitioning, rounds: Int) {
    self.shape = shape
    let engine = EngineTimes(shape, .best)
    var noise = SystemRandomNumberGenerator()
    let coefficients = (0..<2).map { _ in
      (0..<shape.microphones).map { _ in
        (0..<shape.taps).map { _ in Float.random(in: -1e-3...1e-3, using: &noise) }
      }
    }
    let processor = PluginProcessor(
      PluginFilters(
        sampleRate: 48000, delayFrames: 0, microphones: shape.microphones, taps: shape.taps, dataSources: 1,
        patterns: 1, orientations: 1, initial: PluginSetting(),
        cases: [.init(dataSource: 0, pattern: 0, orientation: 0, coefficients: coefficients)], feeds: []))
    let samples = UnsafeMutablePointer<Float>.allocate(capacity: (shape.microphones + 2) * shape.period)
    samples.initialize(repeating: 0, count: (shape.microphones + 2) * shape.period)
    for n in 0..<shape.microphones * shape.period { samples[n] = Float.random(in: -0.5...0.5, using: &noise) }
    let controls = UnsafeMutablePointer<Float>.allocate(capacity: PluginControl.allCases.count)
    controls.initialize(repeating: 0, count: PluginControl.allCases.count)
    defer {
      samples.deallocate()
      controls.deallocate()
    }
    for port in 0..<shape.microphones + 2 { processor.connect(port: port, to: samples + port * shape.period) }
    for control in PluginControl.allCases {
      processor.connect(port: shape.microphones + 2 + control.place, to: controls + control.place)
    }
    processor.activate(blockLength: shape.period)
    var times: (plugin: [Double], engine: [Double]) = ([], [])
    for _ in 0..<rounds {
      times.engine.append(engine.timeOnePeriod())
      times.plugin.append(engine.time { processor.run(shape.period) })
    }
    plugin = times.plugin.sorted()[rounds / 2]
    self.engine = times.engine.sorted()[rounds / 2]
  }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period, "plugin": plugin,
      "engine": engine,
      "ratio": plugin / engine,
    ]
  }

  static func table(_ results: [PluginTimes]) -> String {
    results.map {
      String(
        format: "%2d microphones, %4d taps, blocks of %4d: plug-in %.2f us, engine %.2f us, %.3f x",
        $0.shape.microphones,
        $0.shape.taps, $0.shape.period, $0.plugin, $0.engine, $0.plugin / $0.engine)
    }.joined(separator: "\n")
  }
}
