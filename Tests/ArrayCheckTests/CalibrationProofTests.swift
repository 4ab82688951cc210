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
  /// Means over the cases of the ring's Front, in dB.
  struct Means {
    var directivity = 0.0
    var frontBackOfPatterns = 0.0
    var separation = 0.0
    var frontBackOfStereo = 0.0

    init() {}

    init(_ report: Report) throws {
      func mean(_ values: [Double]) throws -> Double {
        try #require(!values.isEmpty)
        return values.reduce(0, +) / Double(values.count)
      }
      let patterns = report.cases.filter {
        $0.supported && [.cardioid, .supercardioid, .hypercardioid].contains($0.filterCase.polarPattern)
      }
      let stereo = report.cases.filter { $0.supported && $0.filterCase.polarPattern == .stereo }
      func octaves(_ figure: OctaveFigure) throws -> Double {
        try mean(patterns.flatMap { one in [250, 500, 1000, 2000].compactMap { one.figures[figure]?[$0] } })
      }
      directivity = try octaves(.directivityIndex)
      frontBackOfPatterns = try octaves(.frontBackOctaves)
      separation = try mean(stereo.compactMap { $0.figures[.separation] })
      frontBackOfStereo = try mean(stereo.compactMap { $0.figures[.frontBack] })
    }

    static var all: [(name: String, path: WritableKeyPath<Means, Double>)] {
      [
        ("directivity", \.directivity), ("front/back of patterns", \.frontBackOfPatterns),
        ("separation", \.separation), ("front/back of stereo", \.frontBackOfStereo),
      ]
    }
  }

  @Test("gains drawn within ±3 dB: calibrated, at least 90 % of what every figure lost comes back")
  func proof() throws {
    let whole = try ArrayScenes.device("ring7")
    let device = Device(
      name: whole.name, title: whole.title, body: whole.body, placement: whole.placement,
      microphones: whole.microphones, dataSources: whole.dataSources.filter { $0.name == "Front" })
    let bank = try FilterBank.design(device: device, sampleRate: 48000)
    let model = try referenceManifold(for: device)
    let sound = try ArrayScenes.recording(
      of: device, kind: .diffuse, room: false, snr: 40, seed: 21, seconds: 6)
    func means(_ bank: FilterBank, _ deviations: [Deviation]) throws -> Means {
      try Means(
        Report(
          bank: bank, device: device, preset: device.name,
          manifold: DeviatingManifold(model, deviations: deviations), draws: 0))
    }
    let perfect = try means(bank, device.deviations)
    let draws = ArrayCheckTests.isThorough ? 3 : 1
    var (before, after) = (Means(), Means())
    var random = SeededNoise(seed: 31)
    for _ in 0..<draws {
      let gains = device.microphones.map { _ in Double.random(in: -3...3, using: &random) }
      let built = gains.map { Deviation(gain: Decibels($0)) }
      let measured = try ArrayCalibration(
        of: device, signals: ArrayScenes.scaled(sound, by: gains), sampleRate: 48000, date: "2026-11-23")
      let calibrated = device.with(calibration: measured.calibration).deviations
      #expect(calibrated.allSatisfy { $0.delay == 0 && !$0.isInverted })
      let (bare, undone) = (try means(bank, built), try means(bank.undoing(calibrated), built))
      for (_, path) in Means.all {
        before[keyPath: path] += bare[keyPath: path] / Double(draws)
        after[keyPath: path] += undone[keyPath: path] / Double(draws)
      }
    }
    for (name, path) in Means.all {
      let lost = perfect[keyPath: path] - before[keyPath: path]
      let share = (after[keyPath: path] - before[keyPath: path]) / lost
      let line =
        "\(name): before \(before[keyPath: path]), calibrated \(after[keyPath: path]), perfect "
        + "\(perfect[keyPath: path]) dB: \(100 * share) %"
      if ArrayCheckTests.isThorough { print(line) }
      #expect(lost > 0 && share >= 0.9, "\(line)")
    }
  }
}
