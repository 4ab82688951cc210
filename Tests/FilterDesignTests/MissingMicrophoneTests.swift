import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import Presets
import TestSupport
import Testing

/// A3: designs for the microphones that are left.
@Suite("Designs without a microphone") struct MissingMicrophoneTests {
  static let phone = TestDevices.phone5()

  @Test("a device without a microphone keeps what the others can do")
  func device() {
    let rest = Self.phone.without(microphones: ["bottom-left"])
    #expect(rest.microphones.map(\.name) == ["bottom-right", "front", "back", "top"])
    #expect(rest.captureChannels == [2, 3, 4, 5])
    // Bottom had no other microphone: it takes the nearest of the others.
    #expect(rest.dataSources.map(\.name) == ["Bottom", "Front", "Back"])
    #expect(rest.dataSources.map(\.microphones) == [[0], [1, 2, 3], [2, 1, 3]])
    // The omnidirectional pattern of Front is at the nearest microphone, top.
    let frontless = Self.phone.without(microphones: ["front"])
    #expect(frontless.dataSources.map(\.microphones) == [[0], [3, 2], [2, 3]])
    let pair = Self.phone.without(microphones: ["front", "back"])
    #expect(pair.dataSources.map(\.name) == ["Bottom", "Front", "Back"])
    #expect(pair.dataSources[1].polarPatterns == [.omnidirectional, .stereo])
  }

  /// Separation and mean time error of the filters for all microphones with one dead, and of those redesigned.
  static func stereo(without name: String, _ orientation: InputOrientation) throws -> [StereoFigures] {
    let filterCase = FilterCase(dataSource: "Back", polarPattern: .stereo, inputOrientation: orientation)
    let channel = try #require(phone.microphoneIndex(named: name))
    var taps = Banks.phone5Box.coefficients("Back", .stereo, orientation).taps
    for output in 0..<2 { for tap in 0..<taps.length { taps[output, channel, tap] = 0 } }
    let rest = phone.without(microphones: [name])
    let bank = try FilterBank.design(device: rest, sampleRate: 48_000)
    return try [
      StereoFigures(
        FilterCoefficients(filterCase: filterCase, taps: taps), bank: Banks.phone5Box.bank, device: phone),
      StereoFigures(#require(bank.coefficients(for: filterCase)), bank: bank, device: rest),
    ]
  }

  @Test(
    "R39: stereo of phone5 without any one microphone keeps 5 dB of separation, lying down without top 4 dB",
    .long)
  func everyMicrophone() throws {
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    let phone = try library.device(named: "phone5")
    for microphone in phone.microphones.map(\.name) {
      let rest = phone.without(microphones: [microphone])
      let name = FilterBank.storedName(device: rest, sampleRate: 48_000, packagedHead: true)
      // Shipped: nothing is designed while a take runs.
      let bank = try FilterBank(storedAt: "\(repositoryFolder)/Presets/filters/\(name)").replacing(for: phone)
      #expect(bank.microphones == phone.microphones.map(\.name))
      let channel = try #require(phone.microphoneIndex(named: microphone))
      var row = "| \(microphone) |"
      for filters in bank.cases {
        #expect((0..<2).allSatisfy { filters.taps[$0, channel].allSatisfy { $0 == 0 } })
        guard filters.filterCase.polarPattern == .stereo else { continue }
        let figures = try StereoFigures(filters, bank: bank, device: phone)
        let isLyingWithoutTop =
          microphone == "top" && filters.filterCase.inputOrientation!.rawValue.hasPrefix("landscape")
        #expect(figures.separation.value >= (isLyingWithoutTop ? 4 : 5), "\(filters.filterCase)")
        row += String(format: " %.1f dB, %.0f° |", figures.separation.value, figures.heardAtSides.degrees)
      }
      // The table of docs/acoustics.md has the lowest values of each row.
      print(row)
    }
  }

  @Test(
    "a measured array without a microphone has the other channels of its measurement, and a design of its own"
  )
  func measured() throws {
    let ball = MeasuredDesignTests.device(.measured(MeasuredDesignTests.sofa))
    let rest = ball.without(microphones: ["front"])
    let directions = fibonacciSphere(20)
    let all = try manifold(for: ball).responses(from: directions, frequencies: [500, 4000])
    let one = try manifold(for: rest).responses(from: directions, frequencies: [500, 4000])
    #expect(one.channels == 1)
    for f in 0..<2 { for d in 0..<20 { #expect(one[f, 0, d] == all[f, 1, d]) } }
    #expect(
      DesignKey(device: rest, sampleRate: 48_000).hash != DesignKey(device: ball, sampleRate: 48_000).hash)
    let other = ball.without(microphones: ["back"])
    #expect(
      DesignKey(device: rest, sampleRate: 48_000).hash != DesignKey(device: other, sampleRate: 48_000).hash)
  }

  @Test("a case that the others cannot make is omnidirectional, in the layout of all microphones")
  func replaced() throws {
    let cases = [PolarPattern.omnidirectional, .cardioid].map {
      FilterCase(dataSource: "Front", polarPattern: $0, inputOrientation: nil)
    }
    let phone = try Device(
      name: "pair", title: "Pair", body: .free,
      microphones: TestDevices.microphones([("one", 0, 0, 5), ("two", 0, 0, -5)]),
      dataSources: [
        TestDevices.source("Front", .front, .plusZ, microphones: [0, 1], cases.map(\.polarPattern))
      ])
    let bank = FilterBank(
      device: "pair", sampleRate: 48_000, microphones: ["two"], delayFrames: 0, tapCount: 2,
      cases: [FilterCoefficients(filterCase: cases[0], taps: [[[1, 2]], [[1, 2]]])]
    ).replacing(for: phone)
    #expect(bank.cases.map(\.filterCase) == cases)
    for filters in bank.cases { #expect(filters.taps == [[[0, 0], [1, 2]], [[0, 0], [1, 2]]]) }
    #expect(bank.weaknesses.map(\.filterCase) == [cases[1]] && bank.refusals.isEmpty)
  }

  @Test(
    "A3: lying down without the top microphone, and upright without the back one, stereo comes back", .long)
  func redesigned() throws {
    let lying = try Self.stereo(without: "top", .landscapeLeft)
    #expect(lying[1].separation.value > lying[0].separation.value + 2)
    #expect(lying[1].separation.value > 3.5 && lying[1].timeDifferenceError < 130)
    let upright = try Self.stereo(without: "back", .portrait)
    #expect(upright[1].separation.value > upright[0].separation.value + 2)
    #expect(upright[1].separation.value > 7)
  }
}
