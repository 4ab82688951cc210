import Acoustics
import ArrayCheck
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import TestSupport
import Testing

/// What a calibration is for: the figures of `pinna report` with microphones whose gains are off by up to 3 dB.
@Suite("What a calibration brings back")
struct CalibrationProofTests {
  /// The figures that `pinna array calibrate` prints.
  static var all: [(name: String, path: KeyPath<MeanFigures, Double?>)] {
    [
      ("directivity", \.directivity), ("front/back of patterns", \.frontBackOfPatterns),
      ("separation", \.separation), ("front/back of stereo", \.frontBackOfStereo),
    ]
  }

  @Test(
    "gains drawn within ±3 dB: calibrated, at least 90 % of what every figure changed by comes back", .long)
  func proof() throws {
    let whole = try ArrayScenes.device("ring7")
    let device = try Device(
      name: whole.name, title: whole.title, body: whole.body, placement: whole.placement,
      microphones: whole.microphones, dataSources: whole.dataSources.filter { $0.name == "Front" })
    let bank = try FilterBank.design(device: device, sampleRate: 48000)
    let model = try referenceManifold(for: device)
    let sound = try ArrayScenes.recording(
      of: device, kind: .diffuse, room: false, snr: 40, seed: 21, seconds: 6)
    func means(_ bank: FilterBank, _ deviations: [Deviation]) throws -> [Double] {
      let figures = MeanFigures(
        try Report(
          bank: bank, device: device, preset: device.name,
          manifold: DeviatingManifold(model, deviations: deviations), draws: 0))
      return try Self.all.map { try #require(figures[keyPath: $0.path]) }
    }
    let perfect = try means(bank, device.deviations)
    let draws = ArrayCheckTests.isThorough ? 3 : 1
    var before = [Double](repeating: 0, count: Self.all.count)
    var after = before
    var random = SeededNoise(seed: 31)
    for _ in 0..<draws {
      let gains = device.microphones.map { _ in Double.random(in: -3...3, using: &random) }
      let built = gains.map { Deviation(gain: Decibels($0)) }
      let measured = try ArrayCalibration(
        of: device, signals: ArrayScenes.scaled(sound, by: gains), sampleRate: 48000, date: "2026-11-23")
      let calibrated = device.with(calibration: measured.calibration).deviations
      #expect(calibrated.allSatisfy { $0.delay == 0 && !$0.isInverted })
      let (bare, undone) = (try means(bank, built), try means(bank.undoing(calibrated), built))
      for n in Self.all.indices {
        before[n] += bare[n] / Double(draws)
        after[n] += undone[n] / Double(draws)
      }
    }
    for (n, figure) in Self.all.enumerated() {
      // Wrong gains can also raise a figure.
      let share = (after[n] - before[n]) / (perfect[n] - before[n])
      let line =
        "\(figure.name): before \(before[n]), calibrated \(after[n]), perfect \(perfect[n]) dB: \(100 * share) %"
      if ArrayCheckTests.isThorough { print(line) }
      #expect(share >= 0.9 && share <= 1.1, "\(line)")
    }
  }
}
