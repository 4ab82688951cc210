import Acoustics
import FilterBanks
import FilterDesign
import FoundationEssentials
import Glibc
import Messages
import Presets
import Settings
import Text

/// File formats of exported filter sets.
enum ExportFormat: String, NamedWord {
  case wav, jconvolver, camilladsp, pipewire, wireplumber, lv2

  static let kind = "format of an export"
  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The program whose configurations are exported beside the WAV files; nil for WAV files alone.
  var program: ConvolverProgram? { ConvolverProgram(rawValue: rawValue) }
}

extension Verb {
  static let export = Verb(
    name: "export", operands: ["DIR"],
    summary:
      "export the filters of a preset's device: filters.json, one float WAV file per case, configurations; or a plug-in",
    options: [
      Option(
        "--to", "FORMAT",
        "\(ExportFormat.names); all but wav and lv2 add a ready configuration per case; lv2 writes a plug-in's folder into DIR"
      ),
      Option("--preset", "NAME", "preset (default: phone5)"), deviceOption,
      Option(
        "--sample-rate", "HZ",
        "sample rate (default: 48000; for lv2 44100, 48000, 88200 and 96000); may be given several times for pipewire and wireplumber, which take the nearest, and for lv2"
      ),
      Option("--all", nil, "for lv2: every device that ships"),
      Option("--force", nil, "write into a folder that is not empty, replacing filters in it"), hrtfOption,
      jsonOption,
    ]
  ) { arguments in
    guard let word = arguments["--to"] else {
      throw Failure(.usage, "pinna export needs --to; use one of: \(ExportFormat.names)")
    }
    let format = try ExportFormat(word: word)
    if format == .lv2 {
      try ExportPlugin(arguments).run()
      return .done
    }
    guard !arguments.has("--all") else { throw Failure(.usage, "--all is only for --to lv2; leave it out") }
    let rates = try sampleRates(arguments, format)
    let folder = try OutputFolder(
      arguments.operands[0], of: "filters", replacing: arguments.has("--force"))
    let destination = try format.program.map { program throws(Failure) in
      try folder.absolutePath(for: program)
    }
    let (preset, plain) = try arguments.presetAndDevice(in: PresetLibrary.standard)
    preset.complainOfPose()
    if let feed = ([preset.main] + preset.others).first(where: { !$0.isWhole }) {
      throw Failure(
        .usage,
        "\(feed.name) of the preset \(preset.name) plays a part of the sound, which its filters follow; exported filters "
          + "are fixed: set part to whole, and room and talkers to 0")
    }
    let device = try arguments.withHRTF(plain)
    guard format != .wireplumber || device.hardware?.isRecognisable == true else {
      throw Failure(
        .unsupported,
        "the file of \(device.name) names no USB ID and no card under hardware, by which WirePlumber could know it; add one, or use --to pipewire"
      )
    }
    let banks = try rates.map { rate in
      let bank = try FilterBank.ready(
        device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
      guard !bank.cases.isEmpty else {
        throw Failure(
          .unsupported,
          "no case of \(device.name) is usable at \(rate) Hz; to see why, run: pinna design \(device.name) --sample-rate \(rate)"
        )
      }
      return try FeedFilters(of: preset, on: device, sampleRate: rate).onDemand.reduce(bank) {
        try $0.adding($1)
      }
    }
    let all = banks[0]
    try folder.write(last: "filters.json") { scratch in
      guard let program = format.program, let destination else {
        return try all.write(folder: scratch, feeds: preset.others)
      }
      try all.write(
        configurationsFor: program, of: device, main: preset.main, feeds: preset.others, folder: scratch,
        destination: destination, others: Array(banks.dropFirst()))
    }
    let report = ExportReport(
      folder: folder.path, absolutePath: destination, format: format, bank: all, sampleRates: rates,
      preset: preset, device: device)
    arguments.print(json: report.json, text: report.text)
    return .done
  }

  /// The rates of --sample-rate, each once, or 48 kHz.
  private static func sampleRates(_ arguments: Arguments, _ format: ExportFormat) throws(Failure) -> [Int] {
    let rates = try arguments.exportRates()
    guard rates.count <= 1 || format.program?.takesRates == true else {
      throw Failure(
        .usage, "--to \(format.rawValue) takes one sample rate; export each into a folder of its own")
    }
    return rates.isEmpty ? [48000] : rates
  }
}

extension Arguments {
  /// The rates of --sample-rate, each once.
  func exportRates() throws(Failure) -> [Int] {
    try integers("--sample-rate", in: DesignGrid.sampleRates).reduce(into: []) {
      if !$0.contains($1) { $0.append($1) }
    }
  }
}

/// What `pinna export` says that it wrote.
private struct ExportReport {
  let folder: String
  /// Nil without a program.
  let absolutePath: String?
  let format: ExportFormat
  let bank: FilterBank
  /// In hertz: the bank's first.
  let sampleRates: [Int]
  let preset: Preset
  let device: Device

  /// What starts the other program with the preset's case, or its feeds; nil without a program, or if that case is not
  /// exported.
  private var command: String? {
    guard let program = format.program, let absolutePath,
      (try? device.check(preset.main.selection)) != nil
    else {
      return nil
    }
    let name =
      preset.others.isEmpty || !program.takesFeeds
      ? bank.configurationName(of: preset.main.selection.filterCase, for: program)
      : FilterBank.feedsName(for: program)
    let path = name.map { "\(absolutePath)/\($0)" }
    return path.map { program.command(configuration: Shell.word($0)) }
  }

  var text: String {
    let written =
      "\(folder): \("case".counted(bank.cases.count)) of \(bank.device) at \(bank.sampleRate) Hz, one WAV each of "
      + "\(bank.tapCount) frames and \(2 * bank.microphones.count) channels, described by filters.json"
      + sampleRates.dropFirst().map { "; one more each for \($0) Hz" }.joined()
    let names = preset.others.map(\.name).joined(separator: ", ")
    let feeds =
      names.isEmpty
      ? nil
      : format.program.map {
        !$0.takesFeeds
          ? "without the feeds \(names): \($0.title) makes one filter for a card"
          : "main, \(names) together in \(FilterBank.feedsName(for: $0)), on outputs called like their ports"
      }
        ?? "filters.json names the files of the feeds: \(names)"
    guard let program = format.program else {
      return [written, feeds].compactMap(\.self).joined(separator: "\n")
    }
    let parts: [String?] = [
      written,
      "with a configuration of \(program.title) beside each; gain \(preset.main.gain.value) dB, high-pass \(preset.main.highPass.word)",
      feeds,
      command.map {
        "start the preset's \(names.isEmpty || !program.takesFeeds ? "case" : "feeds") with: \($0)"
      },
    ]
    return parts.compactMap(\.self).joined(separator: "\n")
  }

  var json: JSONObject {
    [
      "folder": folder, "device": bank.device, "sampleRate": bank.sampleRate, "sampleRates": sampleRates,
      "cases": bank.cases.count,
      "taps": bank.tapCount, "delayFrames": bank.delayFrames, "format": format.rawValue, "command": command,
      "feeds": preset.others.isEmpty ? nil : preset.others.map(\.name),
    ]
  }
}

extension OutputFolder {
  /// - Throws: if the path cannot stand between quotes in a configuration of `program`.
  fileprivate func absolutePath(for program: ConvolverProgram) throws(Failure) -> String {
    let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
    // jconvolver ends a quoted path at either quote.
    let unreadable = program == .jconvolver ? "\"'\\" : "\"\\"
    guard !absolute.contains(where: { unreadable.contains($0) || $0.isNewline }) else {
      throw Failure(
        .usage,
        "\(absolute) has quotes, backslashes or line breaks, which \(program.title) cannot read; give another folder"
      )
    }
    return absolute
  }
}
