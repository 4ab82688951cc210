import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import Presets
import TestSupport
import Testing

/// A18: a mono pattern is offered only where it differs from simpler ones, and says below which frequency it is none.
@Suite("Judgement of mono patterns") struct MonoJudgementTests {
  /// Two microphones 2.5 mm apart: their noise allows no pattern at low frequencies.
  static let close = Banks.Designed(
    device(
      [("front", 0, 20, 1.25), ("back", 0, 20, -1.25)],
      [.omnidirectional] + TestDevices.firstOrder + [.figureEight]))
  static let tetrahedron = Banks.Designed(
    device(
      [
        ("a", 8.66, 8.66, 8.66), ("b", 8.66, -8.66, -8.66), ("c", -8.66, 8.66, -8.66),
        ("d", -8.66, -8.66, 8.66),
      ],
      [.omnidirectional] + TestDevices.firstOrder + [.figureEight]))

  static func device(_ microphones: [(String, Double, Double, Double)], _ patterns: [PolarPattern]) -> Device
  {
    try! Device(
      name: "array", title: "", body: .free, microphones: TestDevices.microphones(microphones),
      dataSources: [
        TestDevices.source("Front", .front, .plusZ, microphones: Array(microphones.indices), patterns)
      ])
  }

  // MARK: What is measured, without the figures that the judgement reads

  /// Directivity index in decibels of omnidirectional microphones in the free field: the coherence of a diffuse field
  /// between two of them is sin(kd)/(kd).
  static func directivity(_ taps: Taps<Float>, of device: Device, at frequency: Double) -> Double {
    let k = 2 * Double.pi * frequency / 343
    let positions = device.microphones.map(\.position)
    let weights = positions.indices.map { m in
      taps[0, m].enumerated().reduce(Complex.zero) { sum, tap in
        sum + Double(tap.element) * Complex(phase: -2 * .pi * frequency * Double(tap.offset) / 48_000)
      }
    }
    let axis = zip(weights, positions).reduce(Complex.zero) {
      $0 + $1.0 * Complex(phase: k * $1.1.dot(Direction.plusZ.vector))
    }
    var diffuse = 0.0
    for (m, a) in weights.enumerated() {
      for (n, b) in weights.enumerated() {
        let distance = k * (positions[m] - positions[n]).length
        diffuse += (a * b.conjugate).real * (distance < 1e-9 ? 1 : sin(distance) / distance)
      }
    }
    return 10 * log10(axis.squaredMagnitude / diffuse)
  }

  /// The mean over a factor of 1.3 on either side of each centre.
  static func octaves(_ filters: FilterCoefficients, of device: Device) -> [Double] {
    [250.0, 500, 1000, 2000, 4000].map { centre in
      mean((-4...4).map { directivity(filters.taps, of: device, at: centre * pow(1.3, Double($0) / 4)) })
    }
  }

  @Test(
    "patterns that are offered differ, and each refusal names an offered pattern",
    arguments: ["close", "tetrahedron"])
  func differing(name: String) throws {
    let designed = name == "close" ? Self.close : Self.tetrahedron
    let offered = designed.bank.cases.filter { $0.filterCase.polarPattern != .figureEight }
    try #require(offered.count >= 2)
    for (simpler, narrower) in zip(offered, offered.dropFirst()) {
      let (a, b) = (simpler.filterCase.polarPattern, narrower.filterCase.polarPattern)
      // Ideal super- and hypercardioids differ by 0.3 dB; both have their noise limit at the same frequency.
      let least = (a, b) == (.supercardioid, .hypercardioid) ? 0.2 : 0.5
      let differences = zip(
        Self.octaves(simpler, of: designed.device), Self.octaves(narrower, of: designed.device)
      ).map { abs($0 - $1) }
      #expect(differences.count { $0 > least - 0.05 } >= 2, "\(a), \(b): \(differences)")
    }
    for refusal in designed.bank.refusals where refusal.filterCase.polarPattern != .figureEight {
      let names = offered.map { "it is hardly different from \($0.filterCase.polarPattern.rawValue): " }
      #expect(names.contains { refusal.text.hasPrefix($0) }, "\(refusal.text)")
    }
  }

  @Test("beams of a pair 2.5 mm apart that equal a simpler one are not offered")
  func equal() throws {
    let refused = Self.close.bank.refusals.map(\.filterCase.polarPattern)
    #expect(refused.contains(.hypercardioid))
    // On its own it is offered, and is what the cardioid is.
    let device = Self.device([("front", 0, 20, 1.25), ("back", 0, 20, -1.25)], [.hypercardioid])
    let bank = try FilterBank.design(device: device, sampleRate: 48_000)
    let hypercardioid = try #require(bank.cases.first)
    let simplest = try #require(Self.close.bank.cases.dropFirst().first)
    let differences = zip(
      Self.octaves(hypercardioid, of: device),
      Self.octaves(simplest, of: Self.close.device)
    ).map { abs($0 - $1) }
    #expect(differences.count { $0 > 0.55 } < 2, "\(differences)")
  }

  @Test("a weak pattern names the frequency below which it is omnidirectional")
  func lowest() throws {
    let weak = Self.close.bank.weaknesses.filter { $0.text.contains("omnidirectional below") }
    try #require(!weak.isEmpty)
    for remark in weak {
      let words = remark.text.split(separator: " ")
      let edge = try #require(words.firstIndex(of: "below").flatMap { Double(words[$0 + 1]) })
      #expect(edge > 250)
      let filters = try #require(Self.close.bank.coefficients(for: remark.filterCase))
      func index(_ frequency: Double) -> Double {
        Self.directivity(filters.taps, of: Self.close.device, at: frequency)
      }
      #expect(index(edge * 1.12) > 0.4, "\(remark)")
      for frequency in stride(from: 100, to: edge / 1.26, by: 50) {
        #expect(index(frequency) < 0.6, "\(remark)")
      }
    }
    // 15 mm from the centre, patterns begin below speech.
    #expect(!Self.tetrahedron.bank.weaknesses.contains { $0.text.contains("omnidirectional below") })
  }

  @Test(
    "all beams of cardioid capsules that face one way are cardioids: only that is offered, and no figure of eight"
  )
  func capsules() throws {
    let capsule = Capsule(omnidirectionalPart: 0.5, facing: .plusZ)
    let microphones = [-3.0, 3].map {
      Microphone(name: "at \($0)", position: Position($0, 0, 0) / 1000, capsule: capsule)
    }
    let device = try Device(
      name: "capsules", title: "", body: .free, microphones: microphones,
      dataSources: [
        // The order in the file does not matter.
        TestDevices.source(
          "Front", .front, .plusZ, microphones: [0, 1],
          [.figureEight, .hypercardioid, .supercardioid, .cardioid])
      ])
    let bank = try FilterBank.design(device: device, sampleRate: 16_000)
    #expect(bank.cases.map(\.filterCase.polarPattern) == [.cardioid])
    #expect(bank.weaknesses.isEmpty, "\(bank.weaknesses)")
    let reasons = Dictionary(
      uniqueKeysWithValues: bank.refusals.map { ($0.filterCase.polarPattern, $0.text) })
    #expect(
      reasons[.hypercardioid]?.hasPrefix("it is hardly different from cardioid: ") == true, "\(reasons)")
    #expect(
      reasons[.supercardioid]?.hasPrefix("it is hardly different from cardioid: ") == true, "\(reasons)")
    // Half the pressure from the sides: −6 dB.
    #expect(
      reasons[.figureEight]?.hasPrefix("a voice from a side is -6.") == true,
      "\(reasons)")
  }

  @Test(
    "a pair of crossed cardioids offers a cardioid beside the capsule that stands for the omnidirectional pattern"
  )
  func crossed() throws {
    let microphones = [-1.0, 1].map { side in
      Microphone(
        name: "at \(side)", position: Position(0, side, 0) / 1000,
        capsule: Capsule(omnidirectionalPart: 0.5, facing: Direction(SIMD3(side, 0, 1))!))
    }
    let device = try Device(
      name: "crossed", title: "", body: .free, microphones: microphones,
      dataSources: [
        TestDevices.source("Front", .front, .plusZ, microphones: [0, 1], [.omnidirectional, .cardioid])
      ])
    let bank = try FilterBank.design(device: device, sampleRate: 16_000)
    #expect(bank.cases.map(\.filterCase.polarPattern) == [.omnidirectional, .cardioid], "\(bank.refusals)")
  }

  @Test("a pattern that the others cannot make becomes the next simpler one while a microphone fails")
  func fallback() throws {
    let patterns: [PolarPattern] = [.omnidirectional, .cardioid, .hypercardioid]
    let device = Self.device([("front", 0, 0, 4), ("back", 0, 0, -4), ("top", 0, 4, 0)], patterns)
    let cases = device.filterCases
    let bank = FilterBank(
      device: "array", sampleRate: 48_000, microphones: ["front", "back"], delayFrames: 0, tapCount: 1,
      cases: [
        FilterCoefficients(filterCase: cases[0], taps: [[[1], [0]], [[1], [0]]]),
        FilterCoefficients(filterCase: cases[1], taps: [[[2], [-1]], [[2], [-1]]]),
      ],
      refusals: [CaseRemark(filterCase: cases[2], text: "it is hardly different from cardioid")]
    ).replacing(for: device)
    #expect(bank.cases.map(\.filterCase) == cases)
    #expect(bank.cases[2].taps == [[[2], [-1], [0]], [[2], [-1], [0]]])
    #expect(
      bank.weaknesses == [
        CaseRemark(
          filterCase: cases[2],
          text: "without the missing microphones it is cardioid: it is hardly different from cardioid")
      ])
  }

  @Test("shipped sets store the refusals and weaknesses of mono patterns that a design finds today", .long)
  func shipped() throws {
    useSingleThreadedBLAS()
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    for name in library.deviceNames() {
      let device = try library.device(named: name)
      let rates = device.hardware?.rates ?? [48_000]
      let set = FilterBank.storedName(
        device: device, sampleRate: rates.contains(48_000) ? 48_000 : 16_000, packagedHead: true)
      let stored = try FilterBank(storedAt: "\(repositoryFolder)/Presets/filters/\(set)")
      let judged = try stored.judgedMono(of: device, manifold: manifold(for: device))
      func mono(_ remarks: [CaseRemark]) -> [CaseRemark] {
        remarks.filter { $0.filterCase.polarPattern != .stereo }
      }
      #expect(judged.refusals == mono(stored.refusals), "\(name)")
      #expect(judged.weaknesses == mono(stored.weaknesses), "\(name)")
    }
  }
}
