import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

@Suite("Sample rates of designs") struct SampleRateTests {
  @Test(
    "taps and delay follow the sample rate",
    arguments: [
      (8000, 48, 11), (16_000, 88, 21), (44_100, 240, 59), (48_000, 256, 64), (88_200, 472, 118),
      (96_000, 512, 128), (192_000, 1024, 256),
    ])
  func taps(rate: Int, taps: Int, delay: Int) throws {
    let bank = try FilterBank.design(device: TestDevices.pair(), sampleRate: rate)
    #expect(bank.tapCount == taps && bank.delayFrames == delay)
    for coefficients in bank.cases {
      #expect(coefficients.taps.length == taps)
    }
  }

  @Test("an array's response is the same at every rate", arguments: [8000, 16_000, 44_100, 96_000])
  func responses(rate: Int) throws {
    let directions: [SIMD3<Double>] = [[0, 0, 1], [0, 1, 0], [0.6, 0, -0.8]]
    let device = TestDevices.pair()
    func levels(_ bank: FilterBank) throws -> [Double] {
      let response = FilterResponse(
        taps: bank.cases[1].taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
        frequencies: [1000, 2000, 3000])
      let output = try response.outputs(manifold(for: device), from: directions)
      return (0..<3).flatMap { f in (0..<3).map { output[f, 0, $0].magnitude } }
    }
    let bank = try FilterBank.design(device: device, sampleRate: rate)
    for (a, b) in zip(try levels(bank), try levels(Banks.pair.bank)) { #expect(abs(a - b) < 0.03) }
  }

  @Test("stereo separates alike at every rate", .long, arguments: [44_100, 16_000])
  func stereo(rate: Int) throws {
    let phone = TestDevices.phone5(body: .free)
    let device = try Device(
      name: "one", title: "One case", body: .free, microphones: phone.microphones,
      dataSources: [
        TestDevices.source(
          "Back", .back, Direction.plusZ.opposite, microphones: [3], [.stereo], stereo: [.portrait])
      ])
    let bank = try FilterBank.design(device: device, sampleRate: rate)
    let figures = try StereoFigures(bank.cases[0], bank: bank, device: device)
    let reference = try StereoFigures(
      Banks.phone5.coefficients("Back", .stereo, .portrait), bank: Banks.phone5.bank,
      device: Banks.phone5.device)
    #expect(abs(figures.separation.value - reference.separation.value) < 0.6)
    #expect(abs(figures.timeDifferenceLeft - reference.timeDifferenceLeft) < 20)
  }

  @Test("rates out of range are refused", arguments: [0, 7999, 192_001]) func otherRates(rate: Int) {
    #expect(throws: DesignError.self) {
      try FilterBank.design(device: TestDevices.pair(), sampleRate: rate)
    }
  }
}
