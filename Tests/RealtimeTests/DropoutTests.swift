import Foundation
import Realtime
import TestSupport
import Testing

/// R39: a microphone whose signal stops dead, as that of a port that loses its connection.
@Suite("Signals that stop dead") struct DropoutTests {
  /// What a microphone becomes in the engine: one filter of a single tap.
  static func heard(_ signal: [Float], period: Int) -> [Float] {
    let engine = Engine(playing: scaling(1, taps: 256))
    var run = OfflineRun(engine, microphones: [signal])
    run.run(total: signal.count, period: period)
    return run.left
  }

  /// The FFTs of the convolution round.
  static func isEqual(_ a: some Sequence<Float>, _ b: some Sequence<Float>) -> Bool {
    zip(a, b).allSatisfy { abs($0 - $1) < 2e-6 }
  }

  static func splatter(_ signal: [Float], _ frequency: Double) -> Double {
    Spectrum(signal, sampleRate: 48000).peakOutside(frequency, distance: 500)
  }

  /// A tone at -12 dBFS that stops with frame `end`, at this phase in cycles.
  static func tone(_ frequency: Double, phase: Double, end: Int = 8192) -> [Float] {
    (0..<16384).map {
      $0 < end ? Float(0.2512 * sin(2 * .pi * (frequency * Double($0 - end) / 48000 + phase))) : 0
    }
  }

  @Test(
    "R39: a tone that stops dead leaves nothing above -80 dBFS beyond 500 Hz, whatever its phase and the period",
    arguments: [16, 64, 128, 1024], [0.001, 0.13, 0.251, 0.4])
  func tone(period: Int, phase: Double) {
    for frequency in [997.0, 3001] {
      let signal = Self.tone(frequency, phase: phase)
      #expect(Self.splatter(signal, frequency) > -70, "the click that this test is about")
      let heard = Self.heard(signal, period: period)
      let level = Self.splatter(heard, frequency)
      #expect(level < -80, "\(level) dBFS at \(frequency) Hz")
      #expect(Self.isEqual(heard[..<8192], signal))
      #expect(heard[(8192 + 960)...].allSatisfy { $0.magnitude < 2e-6 })
    }
  }

  @Test("a tone that stops anywhere in a period leaves nothing above -80 dBFS", arguments: [16, 64, 1024])
  func offsets(period: Int) {
    for end in [8193, 8197, 8199, 8207, 8250, 8255, 9215] {
      let level = Self.splatter(Self.heard(Self.tone(997, phase: 0.2, end: end), period: period), 997)
      #expect(level < -80, "\(level) dBFS at \(end)")
    }
  }

  @Test(
    "zeros that a signal crosses at the end of a period leave it as it is, and a stop during a fade-in does not click"
  )
  func crossings() {
    // Exactly zero at every 128th sample: the last of each period.
    let crossing = (0..<8192).map { (n: Int) -> Float in
      let angle: Double = 2 * .pi * Double((n + 1) % 128) / 128
      return Float(0.25 * sin(angle))
    }
    let heard = Self.heard(crossing, period: 128)
    #expect(zip(heard, crossing).allSatisfy { abs($0 - $1) < 2e-3 })
    var signal = Self.tone(997, phase: 0.1)
    for n in 6144..<6656 { signal[n] = 0 }
    for n in 7000..<16384 { signal[n] = 0 }
    #expect(Self.splatter(Self.heard(signal, period: 64), 997) < -80)
  }

  @Test("a signal that fades to zero by itself returns without a fade")
  func gated() {
    var noise = SeededNoise(seed: 10)
    var signal = noise.samples(12_800, amplitude: 0.5)
    for n in 3000..<4096 { signal[n] *= 1e-4 }
    for n in 4096..<8192 { signal[n] = 0 }
    #expect(Self.isEqual(Self.heard(signal, period: 128), signal))
  }

  @Test("the end does not depend on the period")
  func periods() {
    let signal = Self.tone(997, phase: 0.2)
    let reference = Self.heard(signal, period: 64)
    for period in [16, 128, 512, 1024, 4096] {
      #expect(Self.isEqual(Self.heard(signal, period: period), reference), "\(period)")
    }
  }

  @Test("noise goes on no louder than it was, and the signal that returns fades in over 20 ms")
  func noise() {
    var noise = SeededNoise(seed: 8)
    for _ in 0..<50 {
      var signal = noise.samples(12_800, amplitude: 0.5)
      for n in 4096..<8192 { signal[n] = 0 }
      let heard = Self.heard(signal, period: 128)
      #expect(heard[4096..<8192].allSatisfy { $0.magnitude <= 0.5 * 1.42 })
      #expect(heard[5056..<8192].allSatisfy { $0.magnitude < 2e-6 })
      for n in stride(from: 8192, to: 9152, by: 7) {
        let x = Float(n - 8192) / 960
        #expect(abs(heard[n] - signal[n] * x * x * (3 - 2 * x)) < 2e-6)
      }
      #expect(Self.isEqual(heard[9152...], signal[9152...]))
    }
  }

  @Test("impulses, zeros within a period and pauses soon after others stay as they are")
  func untouched() {
    var noise = SeededNoise(seed: 9)
    var impulses = [Float](repeating: 0, count: 8192)
    for n in stride(from: 63, to: 8192, by: 640) { impulses[n] = 1 }
    var gaps = noise.samples(8192)
    for n in stride(from: 0, to: 8192, by: 128) where n % 512 == 384 {
      for k in (n + 20)..<(n + 70) { gaps[k] = 0 }
      for k in (n + 100)..<(n + 128) { gaps[k] = 0 }
    }
    for signal in [impulses, gaps] { #expect(Self.isEqual(Self.heard(signal, period: 128), signal)) }
  }
}
