import Acoustics
import Figures
import Foundation
import Manifolds
import TestSupport
import Testing

/// The figures that an array loses through its errors.
@Suite("Losses by array errors") struct LossTests {
  /// In the free field, an array with errors is an array with moved microphones and scaled filters.
  static func moved(_ designed: Banks.Designed, by errors: ArrayErrors) -> FreeFieldManifold {
    FreeFieldManifold(positions: zip(designed.device.microphones, errors.offsets).map { $0.position + $1 })
  }

  static func scaled(_ taps: [[[Float]]], by errors: ArrayErrors) -> [[[Float]]] {
    taps.map { zip($0, errors.gains).map { taps, gain in taps.map { Float(gain) * $0 } } }
  }

  @Test("the losses of a stereo case are those of the array with its errors applied") func stereo() throws {
    let designed = Banks.linear8
    let manifold = try manifold(for: designed.device)
    let report = try Report(
      bank: designed.bank, device: designed.device, preset: "", manifold: manifold, draws: 1)
    let errors = ArrayErrors(microphones: 8, seed: 1)
    let entry = try #require(report.cases.first { $0.filterCase.inputOrientation == .portrait })
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .portrait))
    let figures = try StereoFigures(
      taps: Self.scaled(designed.coefficients("Front", .stereo, .portrait).taps, by: errors),
      sampleRate: 48_000, delayFrames: 64, manifold: Self.moved(designed, by: errors), frame: frame,
      hrtf: StereoTests.hrtf)
    let nominal = entry.figures
    let losses = try #require(entry.losses)
    func expect(_ figure: Figure, _ loss: Double) throws {
      let reported = try #require(losses[figure])
      #expect(reported.mean == reported.worst)
      // Filters are in single precision.
      #expect(abs(reported.mean - loss) < 1e-4, "\(figure)")
    }
    try expect(.separation, try #require(nominal[.separation]) - figures.separation.value)
    try expect(.frontBack, try #require(nominal[.frontBack]) - figures.frontBack.value)
    try expect(
      .levelDifferenceErrorHigh,
      figures.levelDifferenceErrorHigh.value - (try #require(nominal[.levelDifferenceErrorHigh])))
    try expect(
      .timeDifferenceError, figures.timeDifferenceError - (try #require(nominal[.timeDifferenceError])))
    for (octave, centre) in [250, 500, 1000, 2000, 4000, 8000].enumerated() {
      let loss = figures.octaveErrors[octave].value - (try #require(nominal[.octaveError]?[centre]))
      #expect(abs(try #require(losses[.octaveError]?[centre]).mean - loss) < 1e-4)
    }
  }

  @Test("the losses of a mono pattern are those of the array with its errors applied") func mono() throws {
    let designed = Banks.pair
    let report = try Report(
      bank: designed.bank, device: designed.device, preset: "", manifold: manifold(for: designed.device),
      draws: 1)
    let errors = ArrayErrors(microphones: 2, seed: 1)
    let entry = try #require(report.cases.first { $0.filterCase.polarPattern == .cardioid })
    let figures = try MonoFigures(
      taps: Self.scaled(designed.coefficients("Front", .cardioid).taps, by: errors), sampleRate: 48_000,
      delayFrames: 64, manifold: Self.moved(designed, by: errors), forward: .plusZ, omnidirectionalPart: 0.5)
    let losses = try #require(entry.losses)
    for (octave, centre) in OctaveFigure.centres.enumerated() {
      func nominal(_ figure: OctaveFigure) throws -> Double { try #require(entry.figures[figure]?[centre]) }
      func loss(_ figure: OctaveFigure) throws -> Double { try #require(losses[figure]?[centre]).worst }
      #expect(
        abs(try loss(.directivityIndex) - nominal(.directivityIndex) + figures.directivityIndex[octave].value)
          < 1e-4)
      #expect(
        abs(try loss(.frontBackOctaves) - nominal(.frontBackOctaves) + figures.frontBack[octave].value) < 1e-4
      )
      #expect(
        abs(try loss(.patternError) + nominal(.patternError) - figures.patternError[octave].value) < 1e-4)
      #expect(
        abs(try loss(.onAxis) + abs(nominal(.onAxis)) - abs(figures.onAxis[octave].value)) < 1e-4)
    }
  }

  @Test("a single microphone loses only its gain error") func singleMicrophone() throws {
    let report = ReportTests.pair
    let losses = try #require(
      report.cases.first { $0.filterCase.polarPattern == .omnidirectional }?.losses)
    let levels = (1...ArrayErrors.drawCount).map {
      20 * log10(ArrayErrors(microphones: 2, seed: UInt64($0)).gains[0])
    }
    for centre in OctaveFigure.centres {
      #expect(abs(try #require(losses[.directivityIndex]?[centre]).worst) < 1e-6)
      let level = try #require(losses[.onAxis]?[centre])
      #expect(abs(level.worst - levels.map(abs).max()!) < 1e-4)
      #expect(abs(level.mean - levels.map(abs).reduce(0, +) / 30) < 1e-4)
    }
  }

  @Test("errors fill their ranges and are reproducible for a seed") func errors() {
    let draws = (0..<500).map { ArrayErrors(microphones: 4, seed: $0) }
    let levels = draws.flatMap(\.gains).map { 20 * log10($0) }
    let offsets = draws.flatMap(\.offsets).flatMap { [$0.x, $0.y, $0.z].map { $0 * 1000 } }
    for values in [levels, offsets] {
      #expect(values.allSatisfy { abs($0) <= 1 + 1e-9 })
      // Uniform from −1 to 1: variance 1/3, so the mean of 2000 is 0 ± 0.013, three times over. The chance
      // that none of them lies in the last hundredth is 0.995^2000 = e^(−10).
      #expect(abs(values.reduce(0, +) / Double(values.count)) < 0.04)
      #expect(values.max()! > 0.99 && values.min()! < -0.99)
    }
    #expect(ArrayErrors(microphones: 4, seed: 7).gains == draws[7].gains)
    #expect(draws[7].gains != draws[8].gains)
  }
}
