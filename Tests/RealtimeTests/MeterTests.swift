import Foundation
import Realtime
import TestSupport
import Testing

@Suite("Level meters") struct MeterTests {
  @Test(
    "RMS covers 300 ms and peak holds for 1.5 s, whatever the period",
    arguments: [16, 64, 441, 4096])
  func windows(period: Int) {
    let engine = Engine(playing: FilterSet(coefficients: [[[0.5]]]), period: period)
    let sine = (0..<48000).map { Float(0.8 * sin(2 * Double.pi * 1000 * Double($0) / 48000)) }
    var run = OfflineRun(engine, microphones: [sine])
    while run.position + period <= 48000 { run.process(period) }
    let expected = 0.8 / 2.0.squareRoot()
    #expect(abs(Double(engine.levels[0].rms) / expected - 1) < 0.01)
    #expect(abs(Double(engine.levels[1].rms) / (expected / 2) - 1) < 0.01)
    #expect(abs(engine.levels[0].peak - 0.8) < 0.001)
    // The sine has ended. 400 ms later the RMS is zero and the peak still held; 2 s later the peak is gone, too.
    while run.position < 48000 + 19200 { run.process(period) }
    #expect(engine.levels[0].rms < 0.01)
    #expect(abs(engine.levels[0].peak - 0.8) < 0.001)
    while run.position < 3 * 48000 + 2 * period { run.process(period) }
    #expect(engine.levels[0].peak == 0)
  }

  @Test("peak is never below RMS, even if a hold ends in silence", arguments: [16, 64, 441, 4096])
  func peakAboveRMS(period: Int) {
    let engine = Engine(playing: FilterSet(coefficients: [[[0.5]]]), period: period)
    // A loud moment, then alternately 250 ms of signal and 50 ms of silence, so that the hold of 1.5 s ends in silence.
    let sound = (0..<4 * 48000).map { n -> Float in
      let amplitude: Float = n < 480 ? 0.9 : (n - 480) % 14_400 < 12_000 ? 0.5 : 0
      return amplitude * Float(sin(2 * Double.pi * 1000 * Double(n) / 48000))
    }
    // A constant: RMS and peak are equal.
    for signal in [sound, [Float](repeating: 0.3, count: 2 * 48000)] {
      var run = OfflineRun(engine, microphones: [signal])
      var lowest = Float.infinity
      while run.position + period <= signal.count {
        run.process(period)
        for level in engine.levels where level.rms > 0 {
          lowest = min(lowest, level.peak / level.rms)
        }
      }
      #expect(lowest >= 1, "\(lowest)")
    }
  }
}
