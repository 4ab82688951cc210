import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Presets
import TestSupport
import Testing

/// Cases that no filters can serve are not offered, with a reason.
@Suite("Feasibility of cases") struct FeasibilityTests {
  /// A copy of phone3's file that requests stereo.
  static let phone3 = Banks.Designed(
    try! DeviceFile.read(
      YAMLReader(
        text: String(contentsOfFile: repositoryFolder + "/Presets/devices/phone3.yaml", encoding: .utf8)
          .replacingOccurrences(
            of: "polarPatterns: [omnidirectional, cardioid]",
            with: "polarPatterns: [omnidirectional, cardioid, stereo]\n"
              + "    stereoOrientations: [portrait, landscapeLeft]"),
        file: "phone3.yaml")))

  static let portrait = FilterCase(
    dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait)

  @Test("A4: three microphones on the vertical axis give no stereo in portrait") func verticalAxis() throws {
    let bank = Self.phone3.bank
    let refusal = try #require(bank.refusals.first)
    #expect(refusal.filterCase == Self.portrait)
    // By symmetry no filters can tell left from right here: 0 dB is exact. Both sides are heard at the same angle, which
    // the ears of the head, not quite alike, may turn off the middle.
    let heard = try Regex(
      "is heard (only 0° towards it|[1-9]° towards the other side), but 33° towards it is")
    #expect(refusal.text.contains(heard), "\(refusal.text)")
    #expect(refusal.text.contains("separate left and right by at most 0.0 dB in every octave"))
    #expect(bank.coefficients(for: Self.portrait) == nil)
  }

  @Test("a device is offered without its refused cases") func offered() throws {
    let offered = Self.phone3.bank.offered(of: Self.phone3.device)
    #expect(try !offered.dataSource(named: "Front").stereoOrientations.contains(.portrait))
    #expect(
      offered.filterCases.count == Self.phone3.device.filterCases.count - Self.phone3.bank.refusals.count)
    #expect(offered.filterCases == Self.phone3.bank.cases.map(\.filterCase))
  }

  @Test("the report gives the reason and the ceiling of a case that is not supported") func report() throws {
    let report = try Report(
      bank: Self.phone3.bank, device: Self.phone3.device, preset: "phone3",
      manifold: manifold(for: Self.phone3.device), draws: 0)
    let refused = try #require(report.cases.first { $0.filterCase == Self.portrait })
    #expect(!refused.supported && refused.reason == Self.phone3.bank.refusals.first?.text)
    let ceiling = try #require(refused.figures[.separationCeiling])
    #expect(ceiling.keys.sorted() == SeriesFigure.octaves)
    #expect(ceiling.values.allSatisfy { abs($0) < 1e-6 })
    #expect(refused.figures[.separation] == nil && refused.losses == nil)
    // In landscape, the microphones are at the device's left and right ends.
    let lying = try #require(report.cases.first { $0.filterCase.inputOrientation == .landscapeLeft })
    #expect(try #require(lying.figures[.separationCeiling]?[1000]) > 10)
  }

  @Test("refusals are written and read with the filters") func writtenRefusals() throws {
    try FilterBankTests.withFolder { folder in
      try Self.phone3.bank.write(folder: folder)
      #expect(try FilterBank(folder: folder) == Self.phone3.bank)
      let json = try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: folder + "/filters.json")))
          as? [String: Any])
      let entry = try #require((json["notOffered"] as? [[String: Any]])?.first)
      #expect(entry["dataSource"] as? String == "Front" && entry["polarPattern"] as? String == "stereo")
      #expect(entry["inputOrientation"] as? String == "portrait")
      #expect(entry["reason"] as? String == Self.phone3.bank.refusals.first?.text)
    }
  }

  /// The view across a line of microphones in the free field: front and back are equivalent.
  static func line(_ patterns: [PolarPattern]) -> Device {
    let pair = TestDevices.pair()
    return try! Device(
      name: "line", title: "", body: .free, microphones: pair.microphones,
      dataSources: [TestDevices.source("Side", .right, .plusX, microphones: [0, 1], patterns)])
  }

  @Test("no directional pattern across a line is offered") func acrossALine() throws {
    let bank = try FilterBank.design(
      device: Self.line([.omnidirectional, .subcardioid, .cardioid, .figureEight]), sampleRate: 48_000)
    #expect(bank.refusals.map(\.filterCase.polarPattern) == [.subcardioid, .cardioid, .figureEight])
    // Its front is as loud as its back, but its sides are not soft.
    let sides = try #require(bank.refusals.last?.text)
    #expect(sides.hasPrefix("a voice from a side is ") && sides.contains("is allowed"), "\(sides)")
    for refusal in bank.refusals.dropLast() {
      #expect(
        refusal.text.contains("is only 0.0 dB softer than from the front, but 3.0 dB softer is required"))
      #expect(refusal.text.contains("separate front and back by at most 0.0 dB in every octave"))
    }
    #expect(bank.cases.map(\.filterCase.polarPattern) == [.omnidirectional])
  }

  @Test("A18: a device that asks for less offers no figure of eight that is omnidirectional")
  func figureEightAcrossALine() throws {
    let line = Self.line([.omnidirectional, .figureEight])
    var design = line.design
    design.mono.minimumFrontBack = Decibels(0)
    let bank = try FilterBank.design(device: line.with(design: design), sampleRate: 48_000)
    #expect(bank.cases.map(\.filterCase.polarPattern) == [.omnidirectional])
    let reason = try #require(bank.refusals.first?.text)
    #expect(
      reason.hasPrefix("it is hardly different from omnidirectional: its directivity differs by "),
      "\(reason)")
  }

  @Test("the cache keeps a device of which no case works") func cachedRefusals() throws {
    try FilterBankTests.withFolder { cache in
      let device = Self.line([.cardioid])
      let bank = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache)
      #expect(bank.cases.isEmpty && bank.refusals.count == 1)
      let again = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache) { _ in
        Issue.record("it is designed again")
      }
      #expect(again == bank)
      var design = device.design
      design.grid.tapCount = 512
      let longer = device.with(design: design)
      _ = try FilterBank.cached(device: longer, sampleRate: 48_000, cache: cache)
      _ = try FilterBank.cached(device: longer, sampleRate: 48_000, cache: cache) { _ in
        Issue.record("a device with filters of another length is designed again")
      }
    }
  }

  @Test("the smallest beamformer has no refusals") func pair() {
    #expect(Banks.pair.bank.refusals.isEmpty)
  }
}
