import Foundation
import Realtime
import TestSupport
import Testing

@Suite("Clicks") struct ClickTests {
  /// The level in dBFS beyond ±500 Hz of a 997 Hz tone: 11 s at −12 dBFS, with 50 random changes per second.
  func splatter(fadeFrames: Int?, period: Int) throws -> Double {
    let rate = 48000.0
    var noise = SeededNoise(seed: 3)
    let engine = Engine(microphones: 2, taps: 64, sampleRate: rate, fadeFrames: fadeFrames)
    let sets = (0..<8).map { _ in
      scalingPair(
        Float.random(in: -1...1, using: &noise), Float.random(in: -1...1, using: &noise),
        delay: Int.random(in: 0..<64, using: &noise))
    }
    engine.start(with: sets[0])
    engine.prepare(period: period)
    let tone = (0..<550_000).map { Float(0.2512 * sin(2 * Double.pi * 997 * Double($0) / rate)) }
    var run = OfflineRun(engine, microphones: [tone, tone.reversed()])
    var nextChange = 1000.0
    while run.position < 540_000 {
      if Double(run.position) >= nextChange {
        _ = try engine.change(
          to: sets.randomElement(using: &noise)!, gain: Float.random(in: 0.1...1, using: &noise))
        nextChange += rate / 50 * Double.random(in: 0.5...1.5, using: &noise)
      }
      run.process(period)
    }
    return Spectrum(run.left, sampleRate: rate).peakOutside(997, distance: 500)
  }

  func scalingPair(_ a: Float, _ b: Float, delay: Int) -> FilterSet {
    var filters = [[[Float]]](
      repeating: [[Float]](repeating: [Float](repeating: 0, count: 64), count: 2), count: 2)
    for output in 0..<2 {
      filters[output][0][delay] = a
      filters[output][1][63 - delay] = b
    }
    return FilterSet(coefficients: [filters[0]])
  }

  @Test(
    "R3: 50 changes a second leave nothing above -80 dBFS beyond 500 Hz of a tone",
    arguments: [64, 128, 1000])
  func changesDoNotClick(period: Int) throws {
    let level = try splatter(fadeFrames: nil, period: period)
    #expect(level < -80, "\(level) dBFS")
    Faults.report(
      "R3", done: "50 changes a second, period \(period): beyond 500 Hz of a tone",
      measured: String(format: "%.0f dBFS", level), limit: "< −80 dBFS", kept: level < -80)
  }

  @Test("the click test detects clicks: it fails with fades off")
  func clickTestFailsWithoutFades() throws {
    let level = try splatter(fadeFrames: 0, period: 64)
    #expect(level > -80, "\(level) dBFS")
  }
}
