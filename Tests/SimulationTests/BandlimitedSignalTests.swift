import Simulation
import TestSupport
import Testing

@Suite("Band-limited signals")
struct BandlimitedSignalTests {
  static func sine(_ frequency: Double, rate: Int, seconds: Double = 0.5) -> BandlimitedSignal {
    let count = Int(seconds * Double(rate))
    return BandlimitedSignal(
      samples: Sine.samples(frequency: frequency, rate: rate, count: count), sampleRate: rate)
  }

  @Test(
    "between its samples, a signal is the sampled sine, to -80 dB up to 0.45 of the rate",
    arguments: [100.0, 1000, 10_000, 0.45 * 48000], [0.5, 0.125, 0.9, 1.0 / 3])
  func fractionalDelay(frequency: Double, fraction: Double) {
    let shift = 0.05 + fraction / 48000
    let got = Self.sine(frequency, rate: 48000).sampled(rate: 48000, count: 9600, start: shift)
    let expected = Sine.samples(frequency: frequency, rate: 48000, count: 9600, shift: shift)
    #expect(errorLevel(got, expected) <= -80)
  }

  @Test(
    "resampled to another rate, a signal is the same sine, to -80 dB up to 0.45 of the lower rate",
    arguments: [
      (48000, 16000), (48000, 44100), (44100, 48000), (16000, 48000), (48000, 96000), (44100, 16000),
    ])
  func resampling(from: Int, to: Int) {
    for frequency in [1000, 0.45 * Double(min(from, to))] {
      let got = Self.sine(frequency, rate: from).sampled(rate: to, count: to / 5, start: 0.1)
      let expected = Sine.samples(frequency: frequency, rate: to, count: to / 5, shift: 0.1)
      #expect(errorLevel(got, expected) <= -80, "\(frequency) Hz")
    }
  }

  @Test(
    "resampled to 16 kHz, a signal loses all content above 8 kHz, to -80 dB",
    arguments: [8800.0, 10_000, 15_000, 23_000])
  func aliases(frequency: Double) {
    let got = Self.sine(frequency, rate: 48000).sampled(rate: 16000, count: 3200, start: 0.1)
    #expect(level(got) <= -80)
  }

  @Test("at its own rate and times, a signal is unchanged, to the last bit of a float")
  func identity() {
    let samples = Sine.samples(frequency: 997, rate: 48000, count: 1000)
    let signal = BandlimitedSignal(samples: samples, sampleRate: 48000)
    #expect(errorLevel(signal.sampled(rate: 48000, count: 1000, start: 0), samples) <= -140)
  }

  @Test("a signal is silent before its beginning and after its end, however far")
  func silence() {
    let signal = Self.sine(1000, rate: 48000)
    for start in [-1e300, -10, 10, 1e300] {
      #expect(signal.sampled(rate: 44100, count: 100, start: start).allSatisfy { $0 == 0 })
    }
    #expect(
      BandlimitedSignal(samples: [], sampleRate: 48000).sampled(rate: 8000, count: 5, start: 0) == [
        0, 0, 0, 0, 0,
      ])
  }
}
