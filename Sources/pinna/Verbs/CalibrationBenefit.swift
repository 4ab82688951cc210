import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Manifolds
import Messages
import Text

/// What stereo and patterns gain by a calibration: figures of the array as it was measured, with the filters for it as its
/// device file describes it, and with those that undo what was measured.
struct CalibrationBenefit {
  let before: MeanFigures
  let after: MeanFigures

  /// - Parameter device: without the calibration.
  /// - Throws: `DesignError` if filters or figures cannot be computed.
  init(of device: Device, calibration: Calibration, sampleRate: Int) throws {
    let calibrated = device.with(calibration: calibration)
    let array = DeviatingManifold(
      try referenceManifold(for: device, solutions: BoxSolutions(folder: CacheFolder.bodies)),
      deviations: calibrated.deviations)
    func figures(_ filtered: Device) throws -> MeanFigures {
      let bank = try FilterBank.ready(
        device: filtered, sampleRate: sampleRate, progress: WorkProgress.designing(device.name))
      return MeanFigures(
        try Report(bank: bank, device: filtered, preset: device.name, manifold: array, draws: 0))
    }
    before = try figures(device)
    after = try figures(calibrated)
  }

  /// One line per figure that the device has: "separation of stereo: 7.4 dB, calibrated 8.3 dB".
  var lines: [String] {
    figures.map { String(format: "\($0.name): %.1f dB, calibrated %.1f dB", $0.before, $0.after) }
  }

  var json: JSONObject {
    figures.reduce([:]) {
      $0 + ([$1.key: ["before": $1.before, "after": $1.after] as JSONObject] as JSONObject)
    }
  }

  private var figures: [(key: String, name: String, before: Double, after: Double)] {
    let all: [(String, String, KeyPath<MeanFigures, Double?>)] = [
      ("separation", "separation of stereo", \.separation),
      ("frontBackOfStereo", "front over back of stereo", \.frontBackOfStereo),
      ("directivity", "directivity of cardioids", \.directivity),
      ("frontBackOfPatterns", "front over back of cardioids", \.frontBackOfPatterns),
    ]
    return all.compactMap { key, name, path in
      guard let before = before[keyPath: path], let after = after[keyPath: path] else { return nil }
      return (key, name, before, after)
    }
  }
}
