import Acoustics
import Control
import FilterDesign
import Foundation
import Session

extension Verb {
  static let report = Verb(
    name: "report",
    summary: "acoustic figures of every case of a preset's device, and plots of them",
    options: [
      Option("--preset", "NAME", "preset (default: phone5)"),
      Option("--sample-rate", "HZ", "sample rate (default: 48000)"),
      Option("--plots", "DIR", "write plots of every case into this folder, replacing earlier ones"),
      Option(
        "--format", "FORMAT",
        "of the plots: \(PlotFormat.allCases.map(\.rawValue).joined(separator: ", ")) (default: svg)"),
      jsonOption,
    ]
  ) { arguments in
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments["--preset"] ?? "phone5")
    let device = try library.device(named: preset.device)
    let rate = try arguments.integer("--sample-rate", in: DesignGrid.sampleRates) ?? 48000
    let format = try arguments["--format"].map { try PlotFormat(word: $0) } ?? .svg
    let bank = try FilterBank.cached(
      device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
    if let folder = arguments["--plots"] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let hrtf = try HRTF()
      for coefficients in bank.cases {
        let curves = try CaseCurves(coefficients, bank: bank, device: device, hrtf: hrtf)
        let filterCase = coefficients.filterCase
        let name = [
          filterCase.dataSource, filterCase.polarPattern.rawValue, filterCase.inputOrientation?.rawValue,
        ].compactMap { $0 }.map { $0.lowercased() }.joined(separator: "-")
        _ = try CasePlots(
          curves, of: filterCase, name: name, context: "\(preset.name), \(rate) Hz"
        ).write(into: folder, ending: format.rawValue)
      }
    }
    return .done
  }
}

/// How plots are written.
enum PlotFormat: String, NamedWord {
  case svg, png

  static let kind = "format of plots"
}
