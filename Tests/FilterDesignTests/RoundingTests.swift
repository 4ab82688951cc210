import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// Designs depend on their data and not on a machine's rounding: OpenBLAS has different kernels for different
/// processors, with different orders of summation. Microphones moved by a picometre represent them all. Their
/// responses change by 4e-10 at 20 kHz: a million times more than by rounding, and far too little to matter
/// for a design.
@Suite("Sensitivity of designs to rounding") struct RoundingTests {
  static let picometre = 1e-12
  /// The largest energy of the taps' differences, relative to the taps.
  static let limit = Decibels(-60)

  static func moved(_ positions: [Position]) -> [Position] {
    var noise = SeededNoise(seed: 1)
    return positions.map { position in
      position
        + Position(
          .random(in: -picometre...picometre, using: &noise),
          .random(in: -picometre...picometre, using: &noise),
          .random(in: -picometre...picometre, using: &noise))
    }
  }

  static func moved(_ device: Device) -> Device {
    try! Device(
      name: device.name, title: device.title, body: device.body,
      microphones: zip(device.microphones, moved(device.microphones.map(\.position))).map {
        Microphone(name: $0.name, position: $1)
      },
      dataSources: device.dataSources)
  }

  /// The energy of the differences relative to that of `a`.
  static func difference(_ a: Taps<Float>, _ b: Taps<Float>) -> Decibels {
    let (a, b) = (a.values.map { Double($0) }, b.values.map { Double($0) })
    let error = zip(a, b).reduce(0.0) { $0 + pow($1.0 - $1.1, 2) }
    return Decibels(10 * log10(error / a.reduce(0.0) { $0 + $1 * $1 } + 1e-20))
  }

  @Test(
    "moving microphones by a picometre changes no filters", .long,
    arguments: [Banks.linear8, Banks.glasses8, Banks.phone3, Banks.ring7])
  func devices(designed: Banks.Designed) throws {
    let other = try FilterBank.design(device: Self.moved(designed.device), sampleRate: 48_000)
    #expect(other.cases.map(\.filterCase) == designed.bank.cases.map(\.filterCase))
    for (a, b) in zip(designed.bank.cases, other.cases) {
      #expect(Self.difference(a.taps, b.taps).value < Self.limit.value, "\(a.filterCase)")
    }
  }

  /// On a coarse mesh, otherwise as the shipped phone is designed.
  @Test("moving microphones by a picometre changes no filters of a phone's body") func phone() throws {
    let device = TestDevices.phone5()
    let design = try StereoDesign(
      hrtf: StereoTests.hrtf, grid: DesignGrid(sampleRate: 48_000), parameters: device.design)
    let positions = device.microphones.map(\.position)
    let boxes = try [positions, Self.moved(positions)].map {
      try BoxManifold(positions: $0, size: BoxManifoldTests.phoneSize, parameters: .init(panelWidth: 0.006))
    }
    for (source, orientation) in [("Front", InputOrientation.portrait), ("Back", .landscapeLeft)] {
      let frame = try #require(
        HeadFrame(forward: device.dataSource(named: source).forward, orientation: orientation))
      let taps = try boxes.map { try design.filters(manifold: $0, frame: frame) }
      #expect(Self.difference(taps[0], taps[1]).value < Self.limit.value, "\(source) \(orientation)")
    }
  }

  @Test("stereo cases that share an array's responses have the filters that each has by itself")
  func sharedCases() throws {
    let device = TestDevices.phone5()
    var parameters = device.design
    parameters.grid.highestFrequency = Hertz(2500)
    let grid = DesignGrid(sampleRate: 48_000, parameters: parameters.grid)
    let design = try StereoDesign(hrtf: StereoTests.hrtf, grid: grid, parameters: parameters)
    let free = FreeFieldManifold(positions: device.microphones.map(\.position))
    let shared = try SharedManifold(
      free, sphere: design.directions, frequencies: grid.frequencies, step: .unobserved)
    let frames = try [("Front", InputOrientation.portrait), ("Front", .landscapeLeft), ("Back", .portrait)]
      .map {
        try #require(HeadFrame(forward: device.dataSource(named: $0).forward, orientation: $1))
      }
    let together = try design.filters(manifold: shared, frames.map { ($0, nil) }, step: .unobserved)
    for (frame, filters) in zip(frames, together) {
      let alone = try design.filters(manifold: free, frame: frame)
      #expect(Self.difference(filters, alone).value < -100)
    }
  }
}
