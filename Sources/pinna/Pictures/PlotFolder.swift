import Acoustics
import AudioFiles
import Figures
import FilterBanks
import FoundationEssentials
import Glibc
import GuidedCheck
import HeadResponses
import Messages
import Plots
import Rendering
import Settings

/// File formats of plots.
enum PlotFormat: String, NamedWord {
  case svg, png

  static let kind = "format of plots"
}

/// The folder for a report's plots: a page to look at, and a few sheets or every plot as a file.
struct PlotFolder {
  var path: String { folder.path }
  let format: PlotFormat
  /// Whether every plot gets a file of its own.
  let isSeparate: Bool

  let folder: OutputFolder

  init(_ path: String, format: PlotFormat, isSeparate: Bool, replacing: Bool) throws(Failure) {
    folder = try OutputFolder(path, of: "plots", replacing: replacing)
    self.format = format
    self.isSeparate = isSeparate
  }

  /// Writes a sheet, and the page that `html` makes with the sheet's file name.
  func write(_ sheet: some Plot, named stem: String, _ html: (String) -> String) throws {
    let file = name(stem)
    try folder.write(last: "index.html") { scratch in
      try sheet.write(OutputFile("\(scratch)/\(file)", replacing: false))
      try OutputFile("\(scratch)/index.html", replacing: false).write(html(file).utf8)
    }
  }

  /// Writes the page and its files. The plots use the same manifold as the report's figures.
  /// - Returns: the names of the files beside the page.
  func write(_ measurement: Measurement) throws -> [String] {
    let ambisonics = try ambisonicPlots(measurement)
    let voices = ambisonics == nil ? try guidedCheck(measurement) : nil
    let cases = ambisonics == nil ? try casePlots(measurement) : []
    var files: [(name: String, plot: any Plot)] = [
      ("device", PositionPlot(measurement.device))
    ]
    if let ambisonics { files.append(("b-format", ambisonics.sheet)) }
    if let voices { files.append(("voices", voices.plot)) }
    if isSeparate {
      files += cases.flatMap { one in one.files.map { ("\(one.name)-\($0.suffix)", $0.plot) } }
    } else {
      files += sheets(cases)
    }
    let names = files.map { name($0.name) }
    let page = ReportPage(
      measurement: measurement, cases: cases, ambisonics: ambisonics, voices: voices, files: names)
    try folder.write(last: "index.html") { scratch in
      for (file, name) in zip(files, names) {
        try file.plot.write(OutputFile("\(scratch)/\(name)", replacing: false))
      }
      try OutputFile("\(scratch)/index.html", replacing: false).write(page.html.utf8)
    }
    return names
  }

  private func name(_ stem: String) -> String { "\(stem).\(format.rawValue)" }

  /// One sheet per data source with its stereo cases, one with its mono patterns.
  private func sheets(_ cases: [CasePlots]) -> [(name: String, plot: any Plot)] {
    var sheets: [(name: String, cases: [CasePlots])] = []
    for one in cases {
      if let known = sheets.firstIndex(where: { $0.name == one.sheet }) {
        sheets[known].cases.append(one)
      } else {
        sheets.append((one.sheet, [one]))
      }
    }
    return sheets.map { ($0.name, PlotSheet(rows: $0.cases.flatMap(\.rows))) }
  }

  /// Nil for a report that is not on B-format.
  private func ambisonicPlots(_ measurement: Measurement) throws -> AmbisonicPlots? {
    let bank = measurement.bank
    guard let one = bank.cases.first, let figures = measurement.report.cases.first?.ambisonics else {
      return nil
    }
    let curves = try HarmonicCurves(
      one, bank: bank, device: measurement.device, manifold: measurement.manifold)
    return AmbisonicPlots(
      curves, figures: figures,
      context: "\(measurement.preset), \(one.filterCase.dataSource), \(bank.sampleRate) Hz")
  }

  private func casePlots(_ measurement: Measurement) throws -> [CasePlots] {
    let bank = measurement.bank
    let context = "\(measurement.preset), \(bank.sampleRate) Hz"
    let hrtf = try HRTF(path: measurement.device.hrtf ?? HRTF.defaultPath)
    let show = WorkProgress.show("plotting \(measurement.device.name)")
    let plots = try bank.cases.enumerated().map { n, coefficients in
      show(Double(n) / Double(bank.cases.count))
      let curves = try CaseCurves(
        coefficients, bank: bank, device: measurement.device, manifold: measurement.manifold, hrtf: hrtf)
      return CasePlots(curves, of: coefficients.filterCase, context: context)
    }
    show(1)
    return plots
  }

  /// Where voices come out: the guided check without a server. Nil for a device that has nothing to check.
  private func guidedCheck(_ measurement: Measurement) throws -> CheckPicture? {
    let device = measurement.device
    do {
      let check = try DeviceCheck(
        of: device, sampleRate: measurement.bank.sampleRate, bodyCache: CacheFolder.bodies,
        mixing: WorkProgress.step("adding voices"))
      return CheckPicture(
        CheckResults(check.scene, try check.output(progress: WorkProgress.step("rendering"))),
        device: device, name: measurement.preset)
    } catch is Unsupported {
      return nil
    }
  }
}

extension CasePlots {
  /// The name of its sheet: "back-stereo" or "back-mono".
  fileprivate var sheet: String {
    heading.split(separator: ",")[0].lowercased().replacing(" ", with: "-") + (isStereo ? "-stereo" : "-mono")
  }
}
