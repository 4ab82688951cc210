import Acoustics
import Control
import Figures
import Foundation
import HeadResponses

/// How plots are written.
enum PlotFormat: String, NamedWord {
  case svg, png

  static let kind = "format of plots"
}

/// The folder that a report's plots go into.
struct PlotFolder {
  let path: String
  let format: PlotFormat

  init(_ path: String, format: PlotFormat) throws(Failure) {
    guard !path.isEmpty else { throw Failure(.usage, "the name of the folder is empty; give one") }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure(.failed, "cannot make the folder \(path): \(error.systemReason); give another")
    }
    self.path = path
    self.format = format
  }

  /// Plots of every case, on the manifold that its figures were read on; both cores.
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
        .write(into: path, ending: format.rawValue)
    }
    show(1)
  }
}
