import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// A5: arrays measured on a turntable, in the horizontal plane only.
@Suite("Measurements of the horizontal plane") struct HorizontalMeasurementTests {
  typealias Head = MeasuredBandTests

  static func circle(_ count: Int, offset: Double = 0) -> [SIMD3<Double>] {
    (0..<count).map {
      MeasuredManifold.device(
        fromListener: sphericalUnit(
          azimuth: .degrees(offset + 360 * Double($0) / Double(count)), elevation: .degrees(0)))
    }
  }

  /// The sphere in closed form, of which a design knows no more than its horizontal plane.
  struct KnownHorizon: ArrayManifold {
    let whole: RigidSphereManifold
    let measured: MeasuredManifold
    var positions: [Position] { whole.positions }
    func importance(of directions: [SIMD3<Double>]) -> [Double]? { measured.importance(of: directions) }
    func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
      whole.responses(from: directions, frequencies: frequencies)
    }
  }

  static func figures(_ taps: Taps<Float>) throws -> StereoFigures {
    try StereoFigures(
      taps: taps, sampleRate: 48_000, delayFrames: 64, manifold: Head.sphere,
      frame: HeadFrame(forward: .plusZ, orientation: .portrait)!, hrtf: StereoTests.hrtf)
  }

  // Figures are read at multiples of 5°, measured is every 10° from 2.5° on.
  @Test("A5: held-out directions are within 0.5 dB and 15 µs of a design on the array itself")
  func heldOut() throws {
    let files = try MeasuredFiles(Head.sphere, directions: Self.circle(36, offset: 2.5))
    let device = Head.device(files.measurement)
    let bank = try FilterBank.design(device: device, sampleRate: 48_000)
    #expect(bank.remarks == ["measured in the horizontal plane: what comes from above and below is unknown"])
    let reached = try Self.figures(#require(bank.coefficients(for: Head.portrait)).taps)
    let measured = try MeasuredManifold(files.measurement, positions: Head.sphere.positions)
    let direct = try Self.figures(
      StereoDesign(
        hrtf: StereoTests.hrtf, grid: DesignGrid(sampleRate: 48_000), parameters: DesignParameters()
      ).filters(
        manifold: KnownHorizon(whole: Head.sphere, measured: measured),
        frame: HeadFrame(forward: .plusZ, orientation: .portrait)!
      ))
    #expect(reached.levelDifferenceErrorHigh.value - direct.levelDifferenceErrorHigh.value < 0.5)
    #expect(reached.timeDifferenceError - direct.timeDifferenceError < 15)
    #expect(reached.timeDifferenceError < 40 && reached.levelDifferenceErrorHigh.value < 4)
    #expect(reached.separation.value > 7)
  }

  @Test("A5: stereo is refused where the listener's horizon was not measured")
  func landscape() throws {
    let files = try MeasuredFiles(Head.sphere, directions: Self.circle(36))
    let upright = Head.device(files.measurement)
    let device = try upright.with(dataSources: [
      TestDevices.source(
        "Front", .front, .plusZ, microphones: Array(0..<8), [.stereo], stereo: [.portrait, .landscapeLeft])
    ])
    let bank = try FilterBank.design(device: device, sampleRate: 16_000)
    #expect(bank.cases.map(\.filterCase.inputOrientation) == [.portrait])
    #expect(try #require(bank.refusals.first).text.contains("measured in its horizontal plane"))
  }

  @Test("A5: too few horizontal directions, or a gap between them, are refused")
  func gaps() throws {
    let few = try MeasuredFiles(Head.sphere, directions: Self.circle(10))
    #expect(
      HostileMeasurementTests.refusal(few.measurement, Head.sphere.positions).contains(
        "contains 10 directions, all in the horizontal plane; measure at least 12"))
    let gap = try MeasuredFiles(Head.sphere, directions: Array(Self.circle(36).dropFirst(5)))
    #expect(
      HostileMeasurementTests.refusal(gap.measurement, Head.sphere.positions).contains(
        "contains no direction between azimuths -10 and 50 of the horizontal plane"))
  }
}
