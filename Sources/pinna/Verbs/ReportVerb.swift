import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Glibc
import Manifolds
import Messages
import Presets
import Processor
import Settings
import Text

extension Verb {
  static let report = Verb(
    name: "report", operands: ["[TAKE.wav]"],
    summary:
      "print acoustic figures of every case of a preset's device, and plot them; or who spoke when, from where, in a take",
    options: [
      Option("--preset", "NAME", "preset (default: phone5)"), deviceOption,
      Option("--sample-rate", "HZ", "sample rate (default: 48000)"),
      Option("--plots", "DIR", "also write plots to this folder: a page, index.html, and a few sheets"),
      Option("--force", nil, "write plots into a folder that is not empty, replacing those in it"),
      Option("--separate", nil, "write every plot to a file of its own instead of sheets"),
      Option(
        "--format", "FORMAT",
        "format of sheets and plots: \(PlotFormat.allCases.map(\.rawValue).joined(separator: ", ")) (default: svg); "
          + "or \(Arguments.ambix): report on B-format instead, with plots as png"
      ),
      orderOption,
      Option(
        "--look", "AZ[,EL]|all|off",
        "report on a mono pattern that looks there, in degrees as for set (default: the preset's); all: directivity at looks all around"
      ),
      lookPatternOption, lookSourceOption,
      Option(
        "--distance", "CM", "figures for talkers at this distance in cm, 20 to 500, instead of far ones"),
      Option(
        "--draws", "N", "draws of microphone errors for the losses (default: \(ArrayErrors.drawCount))"),
      Option("--calibrated", nil, "draw gain errors of 0.2 dB, as after a calibration, instead of 1 dB"),
      withoutOption, hrtfOption, seatOption, jsonOption,
    ]
  ) { arguments in
    if let path = arguments.operands.first { return try reportOnTalkers(arguments, path) }
    guard !arguments.has("--seat") else {
      throw Failure(.usage, "--seat is about a take; give its file: pinna report TAKE.wav")
    }
    let library = PresetLibrary.standard
    let (preset, device) = try arguments.presetAndDevice(in: library)
    preset.complainOfPose()
    let rate = try arguments.integer("--sample-rate", in: DesignGrid.sampleRates) ?? 48000
    let ambisonics = try arguments.ambisonics()
    let format =
      ambisonics == nil ? try arguments["--format"].map { try PlotFormat(word: $0) } ?? .svg : .png
    let folder = try arguments["--plots"].map {
      try PlotFolder(
        $0, format: format, isSeparate: arguments.has("--separate"), replacing: arguments.has("--force"))
    }
    var measured = try arguments.withoutMicrophones(arguments.withHRTF(device))
    if arguments["--look"]?.lowercased() == "all" {
      return try reportOnAllLooks(arguments, preset, measured, rate, folder)
    }
    var look: Look?
    if let ambisonics {
      guard arguments["--look"] == nil else {
        throw Failure(.usage, "--look is of mono patterns, and --format ambix of B-format; give one")
      }
      measured = try measured.ambisonics(preset.main.selection.with(ambisonics, on: measured))
    } else if let selection = try arguments.look(of: preset, on: measured) {
      look = selection.look
      measured = try measured.ownDevice(of: selection) ?? measured
    }
    let measurement = try Measurement(
      preset: preset.name, device: measured, look: look,
      sampleRate: rate, draws: try arguments.integer("--draws", in: 0...10_000) ?? ArrayErrors.drawCount,
      isCalibrated: arguments.has("--calibrated"),
      distance: try arguments.integer("--distance", in: 20...500).map { Double($0) / 100 })
    let written = try folder?.write(measurement) ?? []
    var measuredReport = measurement.report
    if !preset.others.isEmpty {
      measuredReport.feeds = preset.feedRemarks(
        measurement.report.cases.filter(\.supported).map(\.filterCase), on: device)
    }
    if arguments.isJSON {
      Tool.say(json: json(measuredReport))
    } else {
      Tool.say(
        ReportTable(
          measuredReport, draws: measurement.draws, isCalibrated: measurement.isCalibrated
        ).text)
      if let folder {
        Tool.say(
          "\nPlots of \("case".counted(measurement.bank.cases.count)) are in \(folder.path)/index.html and on "
            + (folder.isSeparate ? "plot" : "sheet").counted(written.count) + " beside it.")
      }
    }
    return .done
  }
}

extension Verb {
  /// `report TAKE.wav`.
  private static func reportOnTalkers(_ arguments: Arguments, _ path: String) throws -> ExitStatus {
    let own: Set = ["--plots", "--force", "--format", "--device", "--seat", "--json"]
    if let other = Self.report.options.first(where: { !own.contains($0.name) && arguments.has($0.name) }) {
      throw Failure(.usage, "\(other.name) is about a device, and \(path) is a take; leave one out")
    }
    let format = try arguments["--format"].map { try PlotFormat(word: $0) } ?? .svg
    let folder = try arguments["--plots"].map {
      try PlotFolder($0, format: format, isSeparate: false, replacing: arguments.has("--force"))
    }
    var recording = try TalkerRecording(path, device: arguments["--device"])
    let seats = try Seat.list(arguments.options["--seat"] ?? [])
    let talkers = TalkerPlot(name: recording.name, utterances: try recording.utterances(seats: seats))
    try folder?.write(talkers.plot, named: "talkers", talkers.html)
    for remark in recording.remarks { Tool.complain(remark) }
    arguments.print(
      json: talkers.json,
      text: talkers.text + (folder.map { "\n\nThe plot is in \($0.path)/index.html." } ?? ""))
    return .done
  }

  /// `report --look all`.
  private static func reportOnAllLooks(
    _ arguments: Arguments, _ preset: Preset, _ device: Device, _ rate: Int, _ folder: PlotFolder?
  ) throws -> ExitStatus {
    guard arguments["--format"] != Arguments.ambix, arguments["--distance"] == nil,
      arguments["--draws"] == nil
    else {
      throw Failure(
        .usage, "--look all goes with neither --format ambix nor --distance nor --draws; leave those out")
    }
    var setting = Setting(preset: preset, device: device)
    try setting.apply(
      [SettingKey.dataSource, .pattern].compactMap { key in
        try arguments["--" + key.rawValue].map { try Change(key, $0) }
      } + [.set(.look, .look(.ahead))])
    let selection = setting.main.selection
    let source = try device.dataSource(named: selection.dataSource)
    let looks = LookFigures.looks(of: source, on: device, selection.inputOrientation)
    let show = WorkProgress.show("designing \("look".counted(looks.count)) of \(device.name)")
    let banks = try looks.enumerated().map { n, look in
      show(Double(n) / Double(looks.count))
      var looking = selection
      looking.look = look
      return (
        look, try FilterBank.ready(device: try device.ownDevice(of: looking) ?? device, sampleRate: rate)
      )
    }
    show(1)
    let manifold = DeviatingManifold(
      try referenceManifold(
        for: device, solutions: BoxSolutions(folder: CacheFolder.bodies),
        progress: WorkProgress.show("measuring \(device.name)")), deviations: device.deviations)
    let figures = try LookFigures(selection, of: device, banks: banks, manifold: manifold)
    let table = LookTable(figures: figures, name: preset.name, sampleRate: rate)
    let plots = LookPlots(figures: figures, table: table)
    try folder?.write(plots.sheet, named: "looks", plots.html)
    if arguments.isJSON {
      Tool.say(json: json(figures))
    } else {
      Tool.say(table.text)
      if let folder { Tool.say("\nThe plots are in \(folder.path)/index.html.") }
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
  /// Of the microphones' errors.
  let draws: Int
  let isCalibrated: Bool
  let report: Report

  /// - Parameters:
  ///   - look: of the device's only case, if it was made for one (`Device.ownDevice`).
  ///   - distance: of the talkers, in metres; nil for plane waves.
  init(
    preset: String, device: Device, look: Look?, sampleRate: Int, draws: Int, isCalibrated: Bool,
    distance: Double?
  ) throws {
    self.draws = draws
    self.isCalibrated = isCalibrated
    self.preset = preset
    self.device = device
    bank = try FilterBank.ready(
      device: device, sampleRate: sampleRate, progress: WorkProgress.designing(device.name)
    ).looking(look)
    let show = WorkProgress.show("measuring \(device.name)")
    // Half of the progress: solving a box with finer panels takes about as long as the figures.
    // The array as it is: the filters undo the deviations of its microphones.
    let far = DeviatingManifold(
      try referenceManifold(
        for: device, solutions: BoxSolutions(folder: CacheFolder.bodies)
      ) { show(0.5 * $0) }, deviations: device.deviations)
    if let distance {
      guard distance > 1.1 * device.extent else {
        throw Failure(
          .usage,
          "--distance \(Int(distance * 100)) is inside \(device.name), or at it; give more than \(Int(110 * device.extent)) cm"
        )
      }
      manifold = NearFieldManifold(far, radius: device.extent, distance: distance)
    } else {
      manifold = far
    }
    report = try Report(
      bank: bank, device: device, preset: preset, manifold: manifold, draws: draws,
      isCalibrated: isCalibrated
    ) { show(0.5 + 0.5 * $0) }
  }
}
