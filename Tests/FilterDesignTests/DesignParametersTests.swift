import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import Presets
import TestSupport
import Testing

@Suite("Design parameters")
struct DesignParametersTests {
  static let bodies: [Body] = [.free, .sphere(radius: 0.08), .box(size: [0.072, 0.147, 0.008])]

  /// An allowed value that differs from the one in `parameters`.
  static func other(_ field: DesignField, than parameters: DesignParameters) -> Double {
    let (value, range) = (field.value(in: parameters), field.range)
    return range.upperBound - value > value - range.lowerBound ? range.upperBound : range.lowerBound
  }

  @Test("every parameter has exactly one field")
  func fields() {
    #expect(DesignField.all.map(\.name) == DesignParameters().values.map(\.name))
  }

  @Test("each field sets its own parameter and no other", arguments: DesignField.all.map(\.name))
  func fieldSetsItsOwn(name: String) throws {
    let field = try #require(DesignField.all.first { $0.name == name })
    let before = DesignParameters()
    var after = before
    field.set(Self.other(field, than: before), in: &after)
    #expect(abs(field.value(in: after) - Self.other(field, than: before)) < 1e-9)
    let changed = zip(before.values, after.values).filter { $0.value != $1.value }.map(\.0.name)
    #expect(changed == [name])
    #expect(before != after)
  }

  @Test("every parameter changes the cache key of the filters", arguments: bodies)
  func keys(body: Body) {
    let device = TestDevices.pair().with(body: body)
    var hashes: Set = [DesignKey(device: device, sampleRate: 48_000).hash]
    for field in DesignField.all {
      var design = device.design
      field.set(Self.other(field, than: design), in: &design)
      let key = DesignKey(device: device.with(design: design), sampleRate: 48_000)
      #expect(hashes.insert(key.hash).inserted, "\(field.name)")
    }
    #expect(hashes.count == DesignParameters().values.count + 1)
  }

  @Test("the default parameters are within their ranges", arguments: bodies)
  func defaults(body: Body) {
    #expect(DesignField.outOfRange(in: DesignParameters(body: body)) == nil)
  }

  @Test("parameters out of range are refused before a design begins")
  func refusal() {
    for (field, value) in [
      ("grid.tapCount", 250.0), ("joint.crossCorner", 100), ("mono.startTieMargin", .nan),
    ] {
      var design = DesignParameters()
      DesignField.all.first { $0.name == field }!.set(value, in: &design)
      let device = TestDevices.pair().with(design: design)
      let error = #expect(throws: DesignError.self) {
        try FilterBank.design(device: device, sampleRate: 48_000)
      }
      #expect(
        error?.description.hasPrefix("\(field) of device pair is ") == true, "\(error?.description ?? "")")
    }
  }

  /// Parameters that have no effect in the designs of the devices below.
  static let withoutEffect: Set = [
    "stereo.scalingLimit", "stereo.highestNoise",
    "mono.minimumOnAxis", "mono.minimumCorrelation", "mono.omnidirectionalStep",
    "mono.minimumOmnidirectionalPart",
    "mono.minimumStartImprovement",
    "mono.startTieMargin", "mono.firstMagnitudePasses", "mono.startComparisonStride",
    "mono.highestStartComparison",
    // The packaged head's band ends above the designs' 8 kHz, whatever the value.
    "head.nyquistFraction",
  ]

  /// One or two designs per field, a minute in total.
  @Test(
    "each parameter that affects these devices changes their filters",
    .enabled(
      if: ProcessInfo.processInfo.environment["PINNA_EVERY_FIELD"] != nil,
      "PINNA_EVERY_FIELD is not set: make figures sets it"),
    arguments: DesignField.all.map(\.name).filter {
      !$0.hasPrefix("measured.") && !withoutEffect.contains($0)
    })
  func filters(name: String) throws {
    let field = try #require(DesignField.all.first { $0.name == name })
    let isMono = ["mono", "truncation"].contains(field.group)
    let standard = isMono ? Self.cardioid : Self.stereo
    let other = Self.other(field, than: standard.device.design)
    let opposite = other == field.range.upperBound ? field.range.lowerBound : field.range.upperBound
    let changes = try [other, opposite].contains { value throws in
      var design = standard.device.design
      field.set(value, in: &design)
      let bank = try FilterBank.design(device: standard.device.with(design: design), sampleRate: 16_000)
      #expect(bank.cases.allSatisfy { $0.taps.values.allSatisfy(\.isFinite) }, "\(value)")
      return bank != standard.bank
    }
    #expect(changes)
  }

  @Test(
    "every parameter of measured arrays changes their responses",
    arguments: DesignField.all.filter { $0.group == "measured" }.map(\.name))
  func measured(name: String) throws {
    let field = try #require(DesignField.all.first { $0.name == name })
    let positions: [Position] = [[0, 0, 0.03], [0.02, 0, 0], [-0.01, 0.025, -0.01]]
    func responses(_ design: DesignParameters) throws -> [Complex] {
      try MeasuredManifold(
        .sofa(path: MeasuredManifoldTests.golden + "/turned.sofa"), positions: positions,
        parameters: design.measured
      ).responses(from: [[0, 0, 1], [0.6, 0.8, 0]], frequencies: [100, 1000, 20_000]).values
    }
    var design = DesignParameters()
    let before = try responses(design)
    field.set(Self.other(field, than: design), in: &design)
    #expect(try responses(design) != before)
  }

  static let cardioid = Banks.Designed(small(.cardioid), sampleRate: 16_000)
  static let stereo = Banks.Designed(small(.stereo), sampleRate: 16_000)

  /// Four microphones on a small box, designed coarsely. It is offered whatever figures its filters reach.
  private static func small(_ pattern: PolarPattern) -> Device {
    var design = DesignParameters(body: .box(size: [0.04, 0.06, 0.02]))
    design.stereo.directions = 200
    design.stereo.minimumAngle = .degrees(0)
    // So little noise that limits are lowered everywhere.
    design.stereo.noiseGainLimit = Decibels(0)
    design.stereo.finishedNoiseGain = Decibels(0)
    design.stereo.minimumNoiseGainLimit = Decibels(-5)
    design.mono.directions = 200
    design.mono.minimumFrontBack = Decibels(0)
    design.truncation.lowNoiseGain = Decibels(0)
    design.joint.horizonSectors = 12
    design.joint.iterations = 10
    return try! Device(
      name: "small", title: "Small", body: .box(size: [0.04, 0.06, 0.02]),
      microphones: TestDevices.microphones([
        ("a", 0, 20, 10), ("b", 0, 20, -10), ("c", -20, 0, 5), ("d", 20, 0, -5),
      ]),
      dataSources: [
        TestDevices.source(
          "Front", .front, .plusZ, microphones: [0, 1, 2, 3], [pattern],
          stereo: pattern == .stereo ? [.portrait] : [])
      ], design: design)
  }
}

extension Device {
  fileprivate func with(body: Body) -> Device {
    try! Device(
      name: name, title: title, body: body,
      microphones: microphones.map {
        Microphone(
          name: $0.name, position: body.shape.nearestSurfacePoint(to: $0.position) ?? $0.position)
      }, dataSources: dataSources)
  }
}
