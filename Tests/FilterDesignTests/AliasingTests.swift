import Acoustics
import Figures
import FilterBanks
import Foundation
import TestSupport
import Testing

/// A7: patterns of arrays that are too coarse for high frequencies.
@Suite("Aliased patterns") struct AliasingTests {
  /// Four microphones on a circle of 43 mm, as many arrays for voice control have.
  static let circle = Banks.Designed(
    try! Device(
      name: "circle", title: "", body: .free,
      microphones: TestDevices.microphones([
        ("m1", 43, 0, 0), ("m2", 0, 0, 43), ("m3", -43, 0, 0), ("m4", 0, 0, -43),
      ]),
      dataSources: [
        TestDevices.source(
          "Front", .front, .plusZ, microphones: [0, 1, 2, 3], [.omnidirectional, .cardioid])
      ]))

  // Before, above 2 kHz the directivity index fell to −2.7 dB, and the response on axis by 24 dB at 7 kHz.
  @Test("A7: above aliasing a pattern is as directional as one microphone, and flat on axis within 2 dB")
  func circle() throws {
    let figures = try MonoFigures(
      Self.circle.coefficients("Front", .cardioid), bank: Self.circle.bank, device: Self.circle.device)
    let frequency = try #require(figures.aliasingFrequency)
    // The circle's diameter is half a wavelength at 2 kHz and a whole one at 4 kHz.
    #expect(frequency.value > 2000 && frequency.value < 4000, "\(frequency.value) Hz")
    for (centre, index) in zip(MonoFigures.octaves, figures.directivityIndex) {
      #expect(index.value > (centre.value < 1500 ? 4.3 : -0.6), "\(centre.value) Hz: \(index.value) dB")
    }
    for (centre, level) in zip(MonoFigures.octaves, figures.onAxis) where centre.value >= 250 {
      #expect(abs(level.value) < 2, "\(centre.value) Hz: \(level.value) dB")
    }
  }

  @Test("A7: a pattern that holds to 12 kHz names no frequency")
  func pair() throws {
    let figures = try MonoFigures(
      Banks.phone5Box.coefficients("Front", .cardioid), bank: Banks.phone5Box.bank,
      device: Banks.phone5Box.device)
    #expect(figures.aliasingFrequency == nil)
  }
}
