import Acoustics
import FilterBanks
import FilterDesign
import Manifolds
import Numerics
import TestSupport
import Testing

/// A13: where an array is drawn changes nothing.
@Suite("The origin of an array") struct OriginTests {
  static func moved(_ device: Device, by offset: Position) -> Device {
    try! Device(
      name: device.name, title: device.title, body: device.body,
      microphones: device.microphones.map { Microphone(name: $0.name, position: $0.position + offset) },
      dataSources: device.dataSources)
  }

  @Test("A13: an array drawn 1 m off its origin has the same filters")
  func free() throws {
    let designed = Banks.linear8
    let far = try FilterBank.design(
      device: Self.moved(designed.device, by: [0.6, -0.5, 0.7]), sampleRate: 48_000)
    #expect(far.cases.map(\.filterCase) == designed.bank.cases.map(\.filterCase))
    for (a, b) in zip(designed.bank.cases, far.cases) {
      #expect(RoundingTests.difference(a.taps, b.taps).value < RoundingTests.limit.value, "\(a.filterCase)")
    }
  }

  // Onsets are whole frames: 7 mm each, over 120 directions and three microphones. A displacement that is off by 1 mm
  // costs next to nothing, because it only aligns the responses before their interpolation.
  @Test("A13: the manifold of a measured array does not depend on where its microphones are drawn")
  func measured() throws {
    let positions = HostileMeasurementTests.positions
    let files = try MeasuredFiles(FreeFieldManifold(positions: positions), directions: fibonacciSphere(120))
    let frequencies = [250, 1000, 4000, 8000.0]
    let directions = fibonacciSphere(300)
    let near = try MeasuredManifold(files.measurement, positions: positions)
    for offset in [[1, 0, 0], [-0.3, 0.6, 0.9]] as [Position] {
      let far = try MeasuredManifold(files.measurement, positions: positions.map { $0 + offset })
      for (found, drawn) in zip(far.positions, positions) { #expect((found - drawn).length < 0.004) }
      for level in errorLevels(
        far.responses(from: directions, frequencies: frequencies),
        near.responses(from: directions, frequencies: frequencies))
      { #expect(level < -35, "\(level)") }
    }
  }
}
