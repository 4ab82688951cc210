import Foundation
import Realtime
import TestSupport
import Testing

@Suite("The newest frames of the outputs") struct OutputTapTests {
  /// Plays a signal on the left and `right` times it on the right.
  private func play(_ signal: [Float], right: Float, period: Int) -> Engine {
    let engine = Engine(playing: FilterSet(coefficients: [[[1]], [[right]]]), period: period)
    var run = OfflineRun(engine, microphones: [signal])
    while run.position + period <= signal.count { run.process(period) }
    return engine
  }

  @Test("are those that were played last, left and right interleaved", arguments: [64, 441, 4096])
  func newest(period: Int) {
    let count = 20 * 4096
    let engine = play((0..<count).map { Float($0) / 65536 }, right: -0.5, period: period)
    let (end, samples) = engine.tap.newest(1000)
    #expect(end == count / period * period && samples.count == 2000)
    for n in 0..<1000 {
      let value = Float(end - 1000 + n) / 65536
      #expect(abs(samples[2 * n] - value) < 1e-5 && abs(samples[2 * n + 1] + value / 2) < 1e-5)
    }
  }

  @Test("correlate with 1 if equal, −1 if inverted, 0 a quarter of a period apart, and not in silence")
  func correlation() {
    let sine = (0..<9600).map { Float(sin(2 * Double.pi * 1000 * Double($0) / 48000)) }
    #expect(abs((play(sine, right: 0.3, period: 64).tap.correlation(frames: 4800) ?? 0) - 1) < 1e-4)
    #expect(abs((play(sine, right: -2, period: 64).tap.correlation(frames: 4800) ?? 0) + 1) < 1e-4)
    #expect(play(sine, right: 0, period: 64).tap.correlation(frames: 4800) == nil)
    let engine = Engine(microphones: 1, taps: 13, sampleRate: 48000)
    var late = [Float](repeating: 0, count: 13)
    var now = late
    (now[0], late[12]) = (1, 1)
    engine.start(with: FilterSet(coefficients: [[now], [late]]))
    engine.prepare(period: 64)
    var run = OfflineRun(engine, microphones: [sine])
    while run.position + 64 <= sine.count { run.process(64) }
    #expect(abs(engine.tap.correlation(frames: 4800) ?? 1) < 1e-3)
  }

  @Test("are whole while the callback writes on: every frame follows the one before it")
  func torn() async {
    let engine = Engine(playing: FilterSet(coefficients: [[[1]], [[-1]]]), period: 512)
    let ramp = (0..<1 << 22).map { Float($0 & 0xFFFF) / 65536 }
    let writer = Thread {
      var run = OfflineRun(engine, microphones: [ramp])
      while run.position + 512 <= ramp.count { run.process(512) }
    }
    writer.start()
    var reads = 0
    while !writer.isFinished {
      let (end, samples) = engine.tap.newest(OutputTap.capacity)
      let first = end - samples.count / 2
      for n in 0..<samples.count / 2 {
        let value = Float((first + n) & 0xFFFF) / 65536
        guard abs(samples[2 * n] - value) < 1e-4, abs(samples[2 * n + 1] + value) < 1e-4 else {
          Issue.record("frame \(first + n) of \(end): \(samples[2 * n]), \(samples[2 * n + 1])")
          return
        }
      }
      reads += samples.isEmpty ? 0 : 1
    }
    #expect(reads > 0)
  }
}
