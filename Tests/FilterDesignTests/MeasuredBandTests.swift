import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// A1: measurements that end before the designs do.
@Suite("The band of a measurement") struct MeasuredBandTests {
  static let radius = 0.0875
  /// Eight microphones around a rigid sphere of a head's size.
  static let sphere = RigidSphereManifold(
    positions: [(90, 0), (-90, 0), (60, 5), (-60, 5), (25, 10), (-25, 10), (0, 30), (180, 0)].map {
      azimuth, elevation in
      let v = sphericalUnit(azimuth: .degrees(azimuth), elevation: .degrees(elevation))
      return radius * MeasuredManifold.device(fromListener: v)
    }, radius: radius)
  static let portrait = FilterCase(dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait)

  /// A low-pass that falls to nothing within a sixth of an octave below `edge`; −20 dB are 0.03 octaves below it.
  static func cut(_ edge: Double) -> @Sendable (Double, Int) -> Double {
    { frequency, _ in
      let part = min(1, max(0, 1 + 6 * log2(max(frequency, 1) / edge)))
      return max(1e-4, 0.5 + 0.5 * cos(.pi * part))
    }
  }

  /// −30 dB at 3 kHz, in the measurement as it is read.
  static let notch: @Sendable (Double, Int) -> Double = { frequency, _ in
    1 - (1 - pow(10, -1.5)) * exp(-pow((frequency - 3000) / 250, 2))
  }

  struct Response: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let gain: @Sendable (_ frequency: Double, _ microphone: Int) -> Double
  }

  static let responses = [
    Response(testDescription: "whole") { _, _ in 1 },
    Response(testDescription: "cut at 12 kHz", gain: cut(12_000)),
    Response(testDescription: "cut at 8 kHz", gain: cut(8000)),
    Response(testDescription: "a notch of 30 dB at 3 kHz", gain: notch),
    Response(testDescription: "one microphone at -20 dB") { _, microphone in microphone == 4 ? 0.1 : 1 },
  ]

  static func device(_ measurement: ArrayMeasurement) -> Device {
    try! Device(
      name: "head", title: "", body: .measured(measurement),
      microphones: sphere.positions.enumerated().map { Microphone(name: "m\($0)", position: $1) },
      dataSources: [
        TestDevices.source(
          "Front", .front, .plusZ, microphones: Array(0..<8), [.cardioid, .stereo], stereo: [.portrait])
      ])
  }

  @Test("A1: a band ends where the level falls by 20 dB, and not at a notch")
  func ends() throws {
    for (response, highest) in [(Self.cut(12_000), 12_000.0), (Self.cut(8000), 8000), (Self.notch, 21_600)] {
      let files = try MeasuredFiles(Self.sphere, directions: fibonacciSphere(120), gain: response)
      let manifold = try MeasuredManifold(files.measurement, positions: Self.sphere.positions)
      #expect(manifold.band.lowerBound == 0)
      // 1/24 octave, and the low-pass of the test files.
      #expect(
        abs(log2(manifold.band.upperBound / highest)) < 0.1, "\(manifold.band.upperBound) Hz")
    }
  }

  @Test("A1: a measurement that ends too early is refused")
  func narrow() throws {
    let files = try MeasuredFiles(Self.sphere, directions: fibonacciSphere(120), gain: Self.cut(2000))
    let message = HostileMeasurementTests.refusal(files.measurement, Self.sphere.positions)
    #expect(
      message.contains("contains only") && message.contains("measure at least 500 to 3000 Hz"), "\(message)")
  }

  // Noise of unit power in each microphone: an output of unit diffuse level with 10.5 dB of noise gain at every
  // frequency has that much noise. Hiss is what lies above 10 kHz.
  @Test(
    "A1, R38: however a measurement is cut, noise stays within its limit at all frequencies", .long,
    arguments: responses)
  func noise(response: Response) throws {
    let files = try MeasuredFiles(Self.sphere, directions: fibonacciSphere(440), gain: response.gain)
    let bank = try FilterBank.design(device: Self.device(files.measurement), sampleRate: 48_000)
    #expect(bank.refusals.isEmpty, "\(bank.refusals)")
    let frequencies = stride(from: 100.0, to: 24_000, by: 100).map { $0 }
    for coefficients in bank.cases {
      let weights = FilterResponse(
        taps: coefficients.taps, sampleRate: 48_000, delayFrames: 64, frequencies: frequencies
      ).weights
      for (f, frequency) in frequencies.enumerated() {
        for output in 0..<2 {
          let noise = weights[f][output * 8..<(output + 1) * 8].reduce(0) { $0 + $1.squaredMagnitude }
          #expect(10 * log10(noise) < 13, "\(coefficients.filterCase): \(frequency) Hz")
        }
      }
    }
  }

  @Test("A1: a measurement cut at 12 kHz has the figures of the body itself up to there", .long)
  func figures() throws {
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .portrait))
    let figures = try [Self.responses[1], Self.responses[0]].map { response in
      let files = try MeasuredFiles(Self.sphere, directions: fibonacciSphere(440), gain: response.gain)
      let bank = try FilterBank.design(device: Self.device(files.measurement), sampleRate: 48_000)
      return try StereoFigures(
        taps: #require(bank.coefficients(for: Self.portrait)).taps, sampleRate: 48_000, delayFrames: 64,
        manifold: Self.sphere, frame: frame, hrtf: StereoTests.hrtf)
    }
    #expect(abs(figures[0].separation.value - figures[1].separation.value) < 0.5)
    #expect(abs(figures[0].levelDifferenceErrorHigh.value - figures[1].levelDifferenceErrorHigh.value) < 0.5)
    #expect(abs(figures[0].timeDifferenceError - figures[1].timeDifferenceError) < 10)
  }
}
