import Acoustics
import Figures
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// The figures that an array loses through its errors.
@Suite("Losses by array errors") struct LossTests {
  /// An array in the free field with errors, in closed form: displaced microphones behind first-order high-passes.
  struct BuiltArray: ArrayManifold {
    let errors: ArrayErrors
    let positions: [Position]

    init(_ device: Device, _ errors: ArrayErrors) {
      self.errors = errors
      positions = zip(device.microphones, errors.offsets).map { $0.position + $1 }
    }

    /// 1 / (1 − j·corner/f).
    private static func highPass(_ corner: Double, _ frequency: Double) -> Complex {
      Complex.one / Complex(1, -corner / max(frequency, 1e-6))
    }

    func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
      var grid = FreeFieldManifold(positions: positions).responses(from: directions, frequencies: frequencies)
      for (f, frequency) in frequencies.enumerated() {
        for m in positions.indices {
          let ratio =
            Self.highPass(errors.corners[m], frequency) / Self.highPass(errors.nominalCorner, frequency)
          for d in directions.indices { grid[f, m, d] *= errors.gains[m] * ratio }
        }
      }
      return grid
    }
  }

  @Test("A10: the losses of a stereo case are those of the array with its errors applied")
  func stereo() throws {
    let designed = Banks.linear8
    let manifold = try manifold(for: designed.device)
    let report = try Report(
      bank: designed.bank, device: designed.device, preset: "", manifold: manifold, draws: 1)
    let errors = ArrayErrors(microphones: 8, seed: 1)
    let entry = try #require(report.cases.first { $0.filterCase.inputOrientation == .portrait })
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .portrait))
    let figures = try StereoFigures(
      taps: designed.coefficients("Front", .stereo, .portrait).taps,
      sampleRate: 48_000, delayFrames: 64, manifold: BuiltArray(designed.device, errors), frame: frame,
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
    try expect(
      .heardBehind, abs(figures.heardBehind.degrees) - (try #require(nominal[.heardBehind])))
    try expect(.timeDifferenceJump, figures.timeDifferenceJump - (try #require(nominal[.timeDifferenceJump])))
    for centre in [100, 1000, 6300] {
      let reached = try #require(figures.frontErrors[SeriesFigure.thirdOctaves.firstIndex(of: centre)!]).value
      let loss = abs(reached) - abs(try #require(nominal[.frontError]?[centre]))
      #expect(abs(try #require(losses[.frontError]?[centre]).mean - loss) < 1e-4)
    }
    // An angle is neither better nor worse; it has no loss.
    #expect(nominal[.heard]?.count == 24 && losses[.heard] == nil)
    for (octave, centre) in [250, 500, 1000, 2000, 4000, 8000].enumerated() {
      let loss = figures.octaveErrors[octave].value - (try #require(nominal[.octaveError]?[centre]))
      #expect(abs(try #require(losses[.octaveError]?[centre]).mean - loss) < 1e-4)
    }
  }

  @Test("A10: the losses of a mono pattern are those of the array with its errors applied")
  func mono() throws {
    let designed = Banks.pair
    let report = try Report(
      bank: designed.bank, device: designed.device, preset: "", manifold: manifold(for: designed.device),
      draws: 1)
    let errors = ArrayErrors(microphones: 2, seed: 1)
    let entry = try #require(report.cases.first { $0.filterCase.polarPattern == .cardioid })
    let figures = try MonoFigures(
      taps: designed.coefficients("Front", .cardioid).taps, sampleRate: 48_000, delayFrames: 64,
      manifold: BuiltArray(designed.device, errors), forward: .plusZ, omnidirectionalPart: 0.5)
    let losses = try #require(entry.losses)
    for (octave, centre) in SeriesFigure.octaves.enumerated() {
      func nominal(_ figure: SeriesFigure) throws -> Double { try #require(entry.figures[figure]?[centre]) }
      func loss(_ figure: SeriesFigure) throws -> Double { try #require(losses[figure]?[centre]).worst }
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

  @Test("a single microphone loses only its gain error well above its corner frequency")
  func singleMicrophone() throws {
    let report = ReportTests.pair
    let losses = try #require(
      report.cases.first { $0.filterCase.polarPattern == .omnidirectional }?.losses)
    let levels = (1...ArrayErrors.drawCount).map {
      20 * log10(ArrayErrors(microphones: 2, seed: UInt64($0)).gains[0])
    }
    for centre in SeriesFigure.octaves {
      #expect(abs(try #require(losses[.directivityIndex]?[centre]).worst) < 1e-6)
      guard centre >= 2000 else { continue }
      let level = try #require(losses[.onAxis]?[centre])
      // Corners of 60 Hz that are off by 30 % change levels at 1.5 kHz by 0.005 dB.
      #expect(abs(level.worst - levels.map(abs).max()!) < 0.01)
      #expect(abs(level.mean - levels.map(abs).reduce(0, +) / 30) < 0.01)
      #expect(abs(level.tail - levels.map(abs).sorted()[28]) < 0.01)
    }
  }

  @Test("corner frequencies and calibrated gains fill their ranges") func corners() {
    let draws = (0..<500).map { ArrayErrors(microphones: 4, seed: $0, isCalibrated: true) }
    let levels = draws.flatMap(\.gains).map { 20 * log10($0) }
    #expect(levels.allSatisfy { abs($0) <= 0.2 + 1e-9 } && levels.max()! > 0.19)
    let corners = draws.map(\.nominalCorner)
    #expect(corners.allSatisfy((20.0...60).contains) && corners.max()! > 58 && corners.min()! < 22)
    let factors = draws.flatMap { draw in draw.corners.map { $0 / draw.nominalCorner } }
    #expect(factors.allSatisfy((0.7...1.3).contains) && factors.max()! > 1.29 && factors.min()! < 0.71)
  }

  @Test("errors fill their ranges and are reproducible for a seed") func errors() {
    let draws = (0..<500).map { ArrayErrors(microphones: 4, seed: $0) }
    let levels = draws.flatMap(\.gains).map { 20 * log10($0) }
    let offsets = draws.flatMap(\.offsets).flatMap { [$0.x, $0.y, $0.z].map { $0 * 1000 } }
    for values in [levels, offsets] {
      #expect(values.allSatisfy { abs($0) <= 1 + 1e-9 })
      // Uniform from −1 to 1: variance 1/3, so the mean of 2000 is 0 ± 0.013, three times over. The chance
      // that none of them lies in the last hundredth is 0.995^2000 = e^(−10).
      let sum: Double = values.reduce(0, +)
      #expect(abs(sum / Double(values.count)) < 0.04)
      #expect(values.max()! > 0.99 && values.min()! < -0.99)
    }
    #expect(ArrayErrors(microphones: 4, seed: 7).gains == draws[7].gains)
    #expect(draws[7].gains != draws[8].gains)
  }
}
