import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
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
    for output in 0..<2 { taps[output][channel] = taps[output][channel].map { _ in 0 } }
    let rest = phone.without(microphones: [name])
    let bank = try FilterBank.design(device: rest, sampleRate: 48_000)
    return try [
      StereoFigures(
        FilterCoefficients(filterCase: filterCase, taps: taps), bank: Banks.phone5Box.bank, device: phone),
      StereoFigures(#require(bank.coefficients(for: filterCase)), bank: bank, device: rest),
    ]
  }

  @Test("A3: lying down without the top microphone, and upright without the back one, stereo comes back")
  func redesigned() throws {
    let lying = try Self.stereo(without: "top", .landscapeLeft)
    #expect(lying[1].separation.value > lying[0].separation.value + 2)
    #expect(lying[1].separation.value > 3.5 && lying[1].timeDifferenceError < 130)
    let upright = try Self.stereo(without: "back", .portrait)
    #expect(upright[1].separation.value > upright[0].separation.value + 2)
    #expect(upright[1].separation.value > 7)
  }
}
