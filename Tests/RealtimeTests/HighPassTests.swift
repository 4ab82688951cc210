import Foundation
import Realtime
import TestSupport
import Testing

@Suite("High-pass of the outputs") struct HighPassTests {
  @Test(
    "A9: the high-pass is a Butterworth of the second order, −3 dB at its corner",
    arguments: [(20.0, 192_000.0), (80, 48_000), (80, 8_000), (400, 44_100)])
  func response(corner: Double, sampleRate: Double) {
    let engine = Engine(playing: scaling(1), sampleRate: sampleRate, highPass: corner)
    let count = Int(40 * sampleRate / corner)
    var run = OfflineRun(engine, microphones: [[1]])
    run.run(total: count, period: 256)
    for octave in [-2.0, -1, 0, 1, 3] {
      let frequency = corner * exp2(octave)
      // The closed form on the warped axis of the bilinear transform.
      let ratio = tan(.pi * frequency / sampleRate) / tan(.pi * corner / sampleRate)
      let expected = ratio * ratio / (1 + pow(ratio, 4)).squareRoot()
      var (real, imaginary) = (0.0, 0.0)
      for (n, sample) in run.left.enumerated() {
        let phase = 2 * .pi * frequency * Double(n) / sampleRate
        real += Double(sample) * cos(phase)
        imaginary -= Double(sample) * sin(phase)
      }
      #expect(abs(hypot(real, imaginary) - expected) < 2e-4, "\(frequency) Hz at \(sampleRate) Hz")
    }
    #expect(run.left == run.right)
  }

  @Test("the high-pass does the same at every period", arguments: [1, 64, 333, 1024])
  func periods(period: Int) {
    var noise = SeededNoise(seed: 9)
    let signal = noise.samples(9600, amplitude: 0.5)
    func output(_ period: Int) -> [Float] {
      let engine = Engine(playing: scaling(1), highPass: 80)
      var run = OfflineRun(engine, microphones: [signal])
      run.run(total: 9600, period: period)
      return run.left
    }
    #expect(zip(output(period), output(128)).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  @Test("R3: changes of the high-pass, 25 a second, leave nothing above −80 dBFS beyond 500 Hz of a tone")
  func changesDoNotClick() throws {
    let rate = 48000.0
    let engine = Engine(microphones: 1, taps: 64, sampleRate: rate)
    let filters = scaling(1)
    engine.start(with: filters)
    engine.prepare(period: 64)
    let (frequency, count) = (50.0, 200_000)
    let tone = (0..<count).map { Float(0.2512 * sin(2 * .pi * frequency * Double($0) / rate)) }
    var run = OfflineRun(engine, microphones: [tone])
    var corners: [Double?] = [80, nil, 400, 20, 200]
    while run.position + 64 <= count {
      if run.position % 1920 == 0 {
        _ = try engine.change(to: filters, gain: 1, highPass: corners[0])
        corners.append(corners.removeFirst())
      }
      run.process(64)
    }
    let level = Spectrum(run.left, sampleRate: rate).peakOutside(frequency, distance: 500)
    #expect(level < -80, "\(level) dBFS")
  }

  @Test("after a change the high-pass is in force alone, and off leaves the signal as it is")
  func changes() throws {
    let engine = Engine(microphones: 1, taps: 64, sampleRate: 48000)
    let filters = scaling(1)
    engine.start(with: filters)
    engine.prepare(period: 100)
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 96_000)])
    let on = try engine.change(to: filters, gain: 0.5, highPass: 80)
    while run.position < 48_000 { run.process(100) }
    #expect(abs(run.left[47_999]) < 1e-6, "a constant passes a high-pass")
    let off = try engine.change(to: filters, gain: 0.5)
    while run.position < 50_000 { run.process(100) }
    #expect(run.left[48_960...].allSatisfy { isNear($0, 0.5) })
    #expect(
      engine.drainReports() == [.applied(on, frame: 960), .applied(off, frame: 48_960)])
  }
}
