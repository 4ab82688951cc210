import Acoustics
import Foundation
import Numerics
import Presets
import Simulation
import TestSupport
import Testing

@Suite("Bodies in a scene")
struct DiffractionTests {
  // acoustics.md: a box to −33 dB up to 4 kHz and −25 dB at 8 kHz.
  @Test("a box changes the microphones' signals as the oracle computes", .long) func box() throws {
    let golden = BoxGolden.named("phone")
    let bodies = try TemporaryFolder()
    for (frequency, limit) in [(375.0, -33.0), (1125, -33), (4125, -33), (8250, -25)] {
      let f = try #require(golden.frequencies.firstIndex(of: frequency))
      let voice = BandlimitedSignalTests.sine(frequency, rate: 48000, seconds: 0.2)
      var error = [Double](repeating: 0, count: golden.microphones.count)
      var energy = error
      for (d, direction) in golden.directions.enumerated() {
        let talker = Talker(voice: voice, direction: try #require(Direction(direction)))
        let heard = try Scene(title: "", device: golden.device, talkers: [talker])
          .microphones(sampleRate: 48000, bodyCache: bodies.path)
        for (m, channel) in heard.channels.enumerated() {
          let value = Complex(golden.real[f][m][d], golden.imaginary[f][m][d])
          error[m] += (Self.response(frequency, of: channel) - value).squaredMagnitude
          energy[m] += value.squaredMagnitude
        }
      }
      for m in error.indices {
        #expect(10 * log10(error[m] / energy[m]) <= limit, "\(frequency) Hz, microphone \(m)")
      }
    }
  }

  /// A sphere that is small against the wavelength advances the pressure on its surface by 3/2 of the free
  /// field's lead: Kuhn, Model for the interaural time differences in the horizontal plane, J. Acoust. Soc.
  /// Am. 62 (1977). The next term, of the order (ka)², is 0.6 % at 50 Hz on a head.
  @Test("a head lengthens time differences by half at low frequencies")
  func sphere() throws {
    let radius = 0.0875
    let device = try Device(
      name: "head", title: "", body: .sphere(radius: radius),
      microphones: [
        Microphone(name: "right", position: [-radius, 0, 0]),
        Microphone(name: "left", position: [radius, 0, 0]),
      ], dataSources: [])
    let voice = BandlimitedSignalTests.sine(50, rate: 48000, seconds: 0.6)
    let heard = try Scene(title: "", device: device, talkers: [Talker(voice: voice, direction: .plusX)])
      .microphones(sampleRate: 48000)
    let phases = heard.channels.map { Sine.phase(of: 50, in: $0[4800..<24000], rate: 48000) }
    let free = 2 * .pi * 50 / 343 * 2 * radius
    #expect(abs((phases[1] - phases[0]) / free - 1.5) < 0.015)
  }

  @Test(
    "convolution in blocks equals direct convolution",
    arguments: [(50, 7), (1000, 64), (5000, 129), (63, 64)])
  func blocks(length: Int, taps: Int) {
    var noise = SeededNoise(seed: 9)
    let signal = (0..<length).map { _ in Float.random(in: -1...1, using: &noise) }
    let filter = (0..<taps).map { _ in Float.random(in: -1...1, using: &noise) }
    let found = BlockConvolution.valid(signal, filter)
    #expect(found.count == max(0, length - taps + 1))
    for (n, value) in found.enumerated() {
      let expected = (0..<taps).reduce(0.0) { $0 + Double(filter[$1]) * Double(signal[n + taps - 1 - $1]) }
      // Sums of up to 129 products in single precision, transforms of 1024.
      #expect(abs(Double(value) - expected) < 1e-4)
    }
  }

  /// Amplitude and phase of `frequency` relative to a sine that begins at the first frame.
  private static func response(_ frequency: Double, of channel: [Float]) -> Complex {
    var sum = Complex.zero
    let frames = 2400..<7200
    for n in frames {
      let window = 1 - cos(2 * .pi * (Double(n - frames.lowerBound) + 0.5) / Double(frames.count))
      sum += window * Double(channel[n]) * Complex(phase: -2 * .pi * frequency * Double(n) / 48000)
    }
    return 2 / Double(frames.count) * sum * Complex(0, 1)
  }
}

extension BoxGolden {
  fileprivate var device: Device {
    try! Device(
      name: "golden", title: "", body: .box(size: size),
      microphones: microphones.enumerated().map { Microphone(name: "m\($0)", position: $1) },
      dataSources: [])
  }
}
