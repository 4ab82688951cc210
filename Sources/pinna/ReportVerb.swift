import Acoustics
import Control
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Presets

extension Verb {
  static let report = Verb(
    name: "report",
    summary: "print acoustic figures of every case of a preset's device, and plot them",
    options: [
      Option("--preset", "NAME", "preset (default: phone5)"),
      Option("--sample-rate", "HZ", "sample rate (default: 48000)"),
      Option("--plots", "DIR", "also write plots of every case to this folder, replacing earlier ones"),
      Option(
        "--format", "FORMAT",
        "format of the plots: \(PlotFormat.allCases.map(\.rawValue).joined(separator: ", ")) (default: svg)"),
      hrtfOption, jsonOption,
    ]
  ) { arguments in
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments["--preset"] ?? "phone5")
    let rate = try arguments.integer("--sample-rate", in: DesignGrid.sampleRates) ?? 48000
    let format = try arguments["--format"].map { try PlotFormat(word: $0) } ?? .svg
    let folder = try arguments["--plots"].map { try PlotFolder($0, format: format) }
    let measurement = try Measurement(
      preset: preset.name, device: arguments.withHRTF(library.device(named: preset.device)),
      sampleRate: rate)
    if let folder { try folder.write(measurement) }
    if arguments.isJSON {
      print(json(measurement.report))
    } else {
      print(ReportTable(measurement.report).text)
      if let folder { print("\nPlots of \(measurement.bank.cases.count) cases are in \(folder.path).") }
    }
    return .done
  }
}

/// The filters of a preset's device, and their figures on a manifold other than the design's.
struct Measurement {
  let preset: String
  let device: Device
  let bank: FilterBank
  let manifold: any ArrayManifold
  let report: Report

  init(preset: String, device: Device, sampleRate: Int) throws {
    self.preset = preset
    self.device = device
    bank = try FilterBank.ready(
      device: device, sampleRate: sampleRate, progress: WorkProgress.designing(device.name))
    let show = WorkProgress.show("measuring \(device.name)", step: 101)
    // Half of the progress: solving a box with finer panels takes about as long as the figures.
    manifold = try referenceManifold(for: device) { show(0.5 * $0) }
    report = try Report(
      bank: bank, device: device, preset: preset, manifold: manifold, draws: ArrayErrors.drawCount
    ) { show(0.5 + 0.5 * $0) }
  }
}
