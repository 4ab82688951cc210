import Acoustics
import Control
import Figures
import Foundation
import HeadResponses

/// File formats of plots.
enum PlotFormat: String, NamedWord {
  case svg, png

  static let kind = "format of plots"
}

/// The folder for a report's plots.
struct PlotFolder {
  let path: String
  let format: PlotFormat

  init(_ path: String, format: PlotFormat) throws(Failure) {
    guard !path.isEmpty else { throw Failure(.usage, "the folder name is empty; give one") }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure(.failed, "cannot create the folder \(path): \(error.systemReason); give another")
    }
    self.path = path
    self.format = format
  }

  /// Writes the plots of every case. They use the same manifold as the report's figures.
  func write(_ measurement: Measurement) throws {
    let bank = measurement.bank
    let context = "\(measurement.preset), \(bank.sampleRate) Hz"
    let hrtf = try HRTF(path: measurement.device.hrtf ?? HRTF.defaultPath)
    let show = WorkProgress.show("plotting \(measurement.device.name)", step: 101)
    for (n, coefficients) in bank.cases.enumerated() {
      show(Double(n) / Double(bank.cases.count))
      let curves = try CaseCurves(
        coefficients, bank: bank, device: measurement.device, manifold: measurement.manifold, hrtf: hrtf)
      try CasePlots(curves, of: coefficients.filterCase, context: context)
        .write(into: path, fileExtension: format.rawValue)
    }
    show(1)
  }
}
